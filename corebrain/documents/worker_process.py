"""One worker as the pool holds it: started, asked, killed.

The process has its own session, a private folder that is wiped after each task, no environment of ours, and pipes.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, cast

from corebrain.documents import landlock, wire, worker_platform
from corebrain.errors import Unsupported

_STDERR_CAP = 16 * 1024 * 1024
_LOOK_S = 0.2
_CHUNK = 1 << 16


class WorkerFailed(Exception):
    """The worker gave no answer and must be killed; the subclass says why."""


class Died(WorkerFailed):
    """It ended, or spoke nonsense."""


class Stuck(WorkerFailed):
    """It did not answer in time."""


class Flooded(WorkerFailed):
    """Its answer is over the cap."""


class WorkerProcess:
    """A running worker; the one who created it must `stop` it.

    Attributes:
        tasks: How many it has answered.
        resident: Memory it held after the last one, in bytes.
    """

    def __init__(self, reply_cap: int, mode: str) -> None:
        """Start the process.

        Args:
            reply_cap: Longest answer taken, in bytes.
            mode: What it may see of the file system (`worker_platform.confine`).

        Raises:
            Unsupported: Not on this operating system, or the interpreter is unknown.
            OSError: There is no room for its folder, or no process to be had.
        """
        if not worker_platform.IS_SUPPORTED or not sys.executable:
            raise Unsupported("parser workers need Linux or macOS, and an interpreter of their own")
        self.tasks = 0
        self.resident = 0
        self._reply_cap = reply_cap
        self._inbox = wire.Inbox(reply_cap + 1024)
        self._noise_total = 0
        self._reaping = threading.Lock()
        self.folder = Path(tempfile.mkdtemp(prefix="corebrain-parser-"))
        self._process = _started(self.folder, mode)
        self._tasks = cast("IO[bytes]", self._process.stdin)
        self._replies = cast("IO[bytes]", self._process.stdout)
        self._errors = cast("IO[bytes]", self._process.stderr)
        os.set_blocking(self._replies.fileno(), False)
        os.set_blocking(self._errors.fileno(), False)
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self._poll.register(self._errors, select.POLLIN)

    def ask(self, task: wire.Message, *, seconds: float, load_seconds: float) -> wire.Message:
        """Send a task and wait for the answer.

        Args:
            task: The task but for its limits.
            seconds: Time from the moment the converter is imported.
            load_seconds: Time to start and to import it.

        Raises:
            WorkerFailed: No answer; the worker must be stopped.
        """
        self._noise_total = 0
        try:
            self._tasks.write(wire.encode({**task, "seconds": seconds, "reply_cap": self._reply_cap}))
            reply = self._receive(time.monotonic() + load_seconds)
            if "loaded" in reply:
                reply = self._receive(time.monotonic() + seconds)
        except BrokenPipeError:
            raise Died(self._last_words()) from None
        except wire.FrameTooLarge:
            raise Flooded("the converted text is over the limit") from None
        except ValueError:
            raise Died("the worker's answer is not readable") from None
        self.tasks += 1
        resident = reply.get("rss")
        self.resident = resident if isinstance(resident, int) else 0
        return reply

    def wipe(self) -> None:
        """Remove what a task left in the folder."""
        for entry in list(os.scandir(self.folder)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)

    def kill(self) -> None:
        """Kill the process and all it started; whoever waits for its answer gets `Died`. From any thread."""
        with self._reaping:
            if self._process.returncode is None:
                worker_platform.kill_group(self._process)

    def stop(self) -> None:
        """Kill it, reap it, close the pipes and remove the folder. Only by the one who holds it."""
        with self._reaping:
            if self._process.returncode is None:
                worker_platform.kill_group(self._process)
                self._process.wait()
        for pipe in (self._tasks, self._replies, self._errors):
            pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def abandon(self) -> None:
        """In a forked child: let go of the parent's worker without touching it."""
        self._process.returncode = 0
        for pipe in (self._tasks, self._replies, self._errors):
            pipe.close()

    def _receive(self, deadline: float) -> wire.Message:
        while True:
            message = self._inbox.take()
            if message is not None:
                return message
            left = deadline - time.monotonic()
            if left <= 0:
                raise Stuck
            ready = self._poll.poll(min(left, _LOOK_S) * 1000)
            if not ready and worker_platform.has_exited(self._process):
                raise Died(self._last_words())  # a child of it keeps the pipe open
            for descriptor, _ in ready:
                self._drain(descriptor)

    def _drain(self, descriptor: int) -> None:
        chunk = os.read(descriptor, _CHUNK)
        if descriptor == self._replies.fileno():
            if not chunk:
                raise Died(self._last_words())
            self._inbox.feed(chunk)
            return
        if not chunk:
            self._poll.unregister(descriptor)
        self._noise_total += len(chunk)
        if self._noise_total > _STDERR_CAP:
            raise Died("it floods its error output")

    def _last_words(self) -> str:
        """How it ended; what it printed is not quoted, because it may hold text of the document.

        Killing first does no harm: the status of a process that is already ending stands.
        """
        with self._reaping:
            if self._process.returncode is None:
                worker_platform.kill_group(self._process)
                self._process.wait()
        code = self._process.returncode
        return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with status {code}"


def _started(folder: Path, mode: str) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - our own module, no input of others on the command line
            [*_command(), str(folder), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
            bufsize=0,
        )
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _command() -> list[str]:
    """`-I` drops the working folder, `PYTHONPATH` and the user's site.

    The package is put in its place bare, so that a worker does not load the library's public face with all below it:
    that would take most of its start and a third of its memory.
    """
    package = Path(__file__).resolve().parents[1]
    start = (
        "import sys, types; package = types.ModuleType('corebrain'); "
        f"package.__path__, package.__file__ = [{str(package)!r}], {str(package / '__init__.py')!r}; "
        "sys.modules['corebrain'] = package; from corebrain.documents.worker import main; main()"
    )
    return [sys.executable, "-I", "-X", "utf8", "-c", start]


def _environment(folder: Path) -> dict[str, str]:
    """All the worker gets: no variable of this process, so no token either."""
    programs = [shutil.which(name) for name in ("pandoc", "soffice", "tesseract")]
    found = [str(Path(program).parent) for program in programs if program]
    place = str(folder)
    return {
        "PATH": os.pathsep.join(dict.fromkeys([*found, *os.defpath.split(os.pathsep)])),
        "HOME": place,
        "TMPDIR": place,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "OMP_NUM_THREADS": "1",
        "DO_NOT_TRACK": "true",
        "SCARF_NO_ANALYTICS": "true",
        "UNSTRUCTURED_DISABLE_NOTICE": "1",
        "HF_HUB_OFFLINE": "1",
        # pandoc cannot write DOCX in its own sandbox; where ours holds (files and TCP), it needs none
        "ALLOW_PANDOC_NO_SANDBOX": "true" if landlock.version() >= 4 else "false",
    }
