"""The error tree of the pipeline: each class says what the command line does next.

```text
PipelineError
├── SetupError         config, command or state is wrong: nothing ran, exit 2
│   └── StateError     the state file is damaged, newer, or belongs to another root or engine
├── AlreadyRunning     another process syncs this source: leave it to that one, exit 1
└── SourcePaused       this source stops here and keeps what it has: say why, go on with the others, exit 1
```

Messages are lower-case, name the item and the next step, and never hold a credential.
"""


class PipelineError(Exception):
    """Any failure of the pipeline itself.

    Attributes:
        message: The text, also what `str()` gives.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class SetupError(PipelineError):
    """The command, the config or the state is wrong; nothing was touched."""


class StateError(SetupError):
    """The state cannot be used as it is; the message says how to go on."""


class AlreadyRunning(PipelineError):
    """Another process holds the source's lease; its pid and start stand in the message."""


class SourcePaused(PipelineError):
    """The source cannot be trusted or reached now; everything held is kept."""
