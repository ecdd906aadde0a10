import os
import stat

import platformdirs
import pytest

from agent_nb import places


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_home_is_where_the_user_says_and_is_not_made(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENT_NB_HOME", str(tmp_path / "mine"))
    assert places.home() == tmp_path / "mine"
    monkeypatch.setenv("AGENT_NB_HOME", "~/mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.home() == tmp_path / "mine"
    monkeypatch.setenv("AGENT_NB_HOME", "  ")
    assert str(places.home()) == platformdirs.user_data_dir("agent_nb", appauthor=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_files_and_folders_are_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        file = places.private_file(tmp_path / "a" / "b" / "c.jsonl")
        folder = places.private_folder(tmp_path / "d" / "e")
    finally:
        os.umask(before)
    assert mode(file) == 0o600
    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "b"), mode(tmp_path / "d"), mode(folder)} == {0o700}
    assert file.read_bytes() == b""


def test_what_was_there_stays(tmp_path):
    file = tmp_path / "old.txt"
    file.write_text("kept")
    file.chmod(0o644)
    assert places.private_file(file) == file
    assert places.private_file(str(file)).read_text() == "kept"
    assert mode(file) == 0o644
    places.private_folder(tmp_path)
    with pytest.raises(OSError, match=r"old\.txt|exists|directory"):
        places.private_file(file / "below")
