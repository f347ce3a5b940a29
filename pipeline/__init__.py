"""Keeps a brain true to its sources: sync, schedule, watch, and the command line `brain`.

Only `pipeline.config` reads the environment and only the command line prints. For people who embed it, one call does:

```python
from pipeline import SqliteState, sync

report = sync(connector, brain, SqliteState(Path("state.db")))
```
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.errors import AlreadyRunning, PipelineError, SetupError, SourcePaused, StateError
    from pipeline.host import Host, Progress
    from pipeline.options import SyncOptions
    from pipeline.report import AsideReport, Estimate, SourceReport, SyncReport
    from pipeline.source import Source
    from pipeline.state.contract import StateStore
    from pipeline.state.sqlite import SqliteState
    from pipeline.syncing import sync, sync_all

_WHERE = {
    "AlreadyRunning": "pipeline.errors",
    "AsideReport": "pipeline.report",
    "Estimate": "pipeline.report",
    "Host": "pipeline.host",
    "PipelineError": "pipeline.errors",
    "Progress": "pipeline.host",
    "SetupError": "pipeline.errors",
    "Source": "pipeline.source",
    "SourcePaused": "pipeline.errors",
    "SourceReport": "pipeline.report",
    "SqliteState": "pipeline.state.sqlite",
    "StateError": "pipeline.errors",
    "StateStore": "pipeline.state.contract",
    "SyncOptions": "pipeline.options",
    "SyncReport": "pipeline.report",
    "sync": "pipeline.syncing",
    "sync_all": "pipeline.syncing",
}

__all__ = [
    "AlreadyRunning",
    "AsideReport",
    "Estimate",
    "Host",
    "PipelineError",
    "Progress",
    "SetupError",
    "Source",
    "SourcePaused",
    "SourceReport",
    "SqliteState",
    "StateError",
    "StateStore",
    "SyncOptions",
    "SyncReport",
    "sync",
    "sync_all",
]


def __getattr__(name: str) -> Any:
    """Import on first use: the command line must not pay for what a verb does not need."""
    if name not in _WHERE:
        raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)
