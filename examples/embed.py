"""The company's documents in a program of your own: sync a folder, build beliefs, search.

    python examples/embed.py

Reads the folder `handbook` of the working directory; memory and books go to `memory`.
"""

from pathlib import Path

from connectors import FilesConnector
from corebrain import BackgroundRunner, Brain, LocalEngine
from pipeline import SqliteState, sync

with LocalEngine("memory/memory.db") as engine:
    brain = Brain(engine)
    report = sync(FilesConnector("handbook"), brain, SqliteState(Path("memory/state.db")))
    runner = BackgroundRunner(engine)
    print([runner.run(job).outcome.outcome for job in report.jobs])
    print([hit.meta.file_path for hit in brain.search("parental leave")])
