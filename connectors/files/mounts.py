"""Which file systems lie at and below a folder, and which of them send no events.

Linux tells by `/proc/self/mountinfo` (proc(5)): file system types by name, with the mounts *below* a folder, which the
magic number of `statfs` would only tell of one path at a time. Elsewhere nothing is known here, and every folder counts
as local; the scan every few minutes makes up for it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path("/proc/self/mountinfo")

_NETWORK = (
    "9p acfs afs beegfs ceph cifs coda davfs fhgfs gfs gfs2 glusterfs gpfs lustre ncp ncpfs nfs nfs4 ocfs2 orangefs"
    " panfs pvfs2 smb2 smb3 smbfs vboxsf virtiofs vmhgfs webdav"
)
"""Types whose changes may be made by another machine: the kernel here sends no event for them."""

_LOCAL_FUSE = frozenset({"fuseblk", "fuse.lxcfs", "fuse.ntfs", "fuse.ntfs-3g", "fuse.exfat"})
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system.

    Attributes:
        path: Where, as an absolute path.
        kind: The type's name, such as `ext4` or `nfs4`.
    """

    path: str
    kind: str

    @property
    def is_silent(self) -> bool:
        """Whether changes in it may go by without an event."""
        fuse = self.kind == "fuse" or (self.kind.startswith("fuse.") and self.kind not in _LOCAL_FUSE)
        return fuse or self.kind in _NETWORK.split()


def mounts_at(root: str, table: Path = TABLE) -> tuple[Mount, ...]:
    """Return the file system *root* lies on, then those mounted below it in order of their paths.

    Empty where the system has no such table. Of several mounts at one path the last, the visible one, counts.

    Args:
        root: A resolved absolute path.
        table: What lists the mounts.
    """
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ()
    mounts = {mount.path: mount for line in lines if (mount := _mount(line)) is not None}
    above = [path for path in mounts if root == path or root.startswith(os.path.join(path, ""))]
    inside = os.path.join(root, "")
    below = sorted(path for path in mounts if path.startswith(inside) and path != root)
    return tuple(mounts[path] for path in [*sorted(above, key=len)[-1:], *below])


def _mount(line: str) -> Mount | None:
    """Read `36 35 98:0 /src /mnt rw shared:1 - ext3 /dev/root rw`."""
    before, dash, after = line.partition(" - ")
    fields = before.split(" ")
    if not dash or len(fields) < 5:
        return None
    return Mount(_OCTAL.sub(lambda octal: chr(int(octal[1], 8)), fields[4]), after.split(" ", 1)[0])
