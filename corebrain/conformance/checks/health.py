"""`health`: the engine says that it serves."""

from corebrain.conformance.trial import Trial


def health(trial: Trial) -> None:
    """The engine reports itself serving."""
    told = trial.engine.health()
    trial.expect(told.is_serving, f"the engine reports itself {told.state.value}: {told.reason}")
