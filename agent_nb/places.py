"""Where agent_nb keeps its files, and how it makes them private."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder of everything that is kept: `AGENT_NB_HOME`, else the platform's user data folder.

    Nothing is created; see `private_folder` and `private_file`.
    """
    named = os.environ.get("AGENT_NB_HOME", "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("agent_nb", appauthor=False))


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
