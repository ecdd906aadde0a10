"""Where agent_nb keeps its files, and how it makes them private."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .errors import SettingError

# SQLite's write-ahead log needs memory that only the processes of one machine can share.
_NETWORK = frozenset(
    "nfs nfs4 cifs smb smb2 smb3 smbfs 9p afs ceph lustre glusterfs beegfs gpfs ncpfs davfs ocfs2 gfs2 vboxsf prl_fs"
    " fuse.sshfs fuse.rclone fuse.s3fs fuse.gcsfuse fuse.davfs2 fuse.glusterfs fuse.cephfs fuse.smbnetfs"
    " fuse.vmhgfs-fuse fuse.juicefs fuse.goofys fuse.mount-s3 fuse.blobfuse2".split()
)
_MOUNTS = Path("/proc/self/mounts")


def home() -> Path:
    """The folder of everything that is kept: `AGENT_NB_HOME`, else the platform's user data folder.

    Nothing is created; see `private_folder` and `private_file`.
    """
    named = os.environ.get("AGENT_NB_HOME", "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("agent_nb", appauthor=False))


def settings() -> dict[str, Any]:
    """What the user has set in `config.toml`; {} where there is none. Raises SettingError where it cannot be read."""
    import tomllib  # not when the extension is loaded

    try:
        return tomllib.loads((home() / "config.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingError(f"config.toml cannot be read: {error}; mend or remove it") from None


def private_folder(path: str | os.PathLike[str]) -> Path:
    """The folder at `path`, made where it is missing; what is made is readable by its owner only (mode 700).

    Folders that were there before keep their mode.
    """
    folder = Path(path).expanduser()
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    return folder


def private_file(path: str | os.PathLike[str]) -> Path:
    """The file at `path`, made empty where it is missing, with mode 600, its missing folders with mode 700.

    A file that was there before keeps its content and mode. Raises OSError where it cannot be made.
    """
    file = Path(path).expanduser()
    private_folder(file.parent)
    # Mode at creation, not by a later chmod: at no moment may others read it. A umask can only take away.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    return file


def network_kind(path: Path, table: str | None = None) -> str:
    """The kind of network file system that a path lies on, e.g. "nfs4"; "" for none, or where it cannot be told."""
    if table is None:
        try:
            table = _MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    place, kind, longest = path.expanduser().resolve(), "", -1
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[1]))
        # A later line of the same place lies over the earlier one.
        if (place == mount or mount in place.parents) and len(mount.parts) >= longest:
            kind, longest = fields[2], len(mount.parts)
    return kind if kind in _NETWORK else ""
