"""The suite's own two errors: an engine answered wrongly, or it raised where it must serve."""


class ConformanceError(Exception):
    """An engine did not pass.

    Attributes:
        check: Name of the check.
        engine: The id the engine's descriptor gives; empty when even that could not be read.
        detail: What was wrong, with what was expected.
    """

    verb = "failed"

    def __init__(self, check: str, detail: str, *, engine: str = "") -> None:
        super().__init__(check, detail)
        self.check = check
        self.detail = detail
        self.engine = engine

    def __str__(self) -> str:
        return f"{self.engine or 'the engine'} {self.verb} {self.check}: {self.detail}"


class CheckFailed(ConformanceError):
    """The engine answered, and the answer breaks the contract."""


class EngineFailed(ConformanceError):
    """The engine raised from a call it must serve.

    Attributes:
        source: What it raised; also the `__cause__`.
    """

    verb = "raised in"

    def __init__(self, check: str, source: Exception, *, engine: str = "") -> None:
        super().__init__(check, f"{type(source).__name__}: {source}", engine=engine)
        self.source = source

    def __reduce__(self) -> tuple[type["EngineFailed"], tuple[str, Exception], dict[str, object]]:
        return type(self), (self.check, self.source), self.__dict__
