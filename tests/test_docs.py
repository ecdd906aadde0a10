"""What README and docs show is true: marked examples run, linked files exist."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

from agent_nb.notebook import agent_verbs, arguments, memory_verbs

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"<!-- executed by tests/test_docs\.py -->\s*```python\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{n}")
    for page in PAGES
    for n, code in enumerate(MARK.findall(page.read_text("utf-8")))
]


CELLS = re.compile(r"<!-- cells run by tests/test_docs\.py -->\s*```\w*\n(.*?)```", re.DOTALL)
SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("%load_ext agent_nb")
for cell in json.load(sys.stdin):
    ran = shell.run_cell(cell)
    if not ran.success or ("%%agent" in cell and not shell.user_ns["_agent"].done):
        sys.exit(f"this cell of the documentation failed: {cell}")
"""


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.kernel
def test_cells_of_the_guide_run(tmp_path):
    cells = CELLS.findall((ROOT / "docs" / "guide.md").read_text("utf-8"))
    assert len(cells) > 3
    ran = subprocess.run(
        [sys.executable, "-c", SHELL],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONIOENCODING": "utf-8"},
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    for figure in ("220", "80", "15", "7.5"):  # totals of the regions, a mean of guests, a total of prices
        assert figure in ran.stdout


def test_verbs_and_flags_that_the_pages_name_exist():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    for magic, verbs in (("agent", agent_verbs.verbs()), ("memory", memory_verbs.verbs())):
        named = set(re.findall(rf"(?<!%)%{magic} ([a-z]+)", text)) - {"help"}
        assert named
        assert not named - set(verbs)
    flags = set(re.findall(r"`(?:%%agent )?(--[a-z-]+)", text))
    known = set(arguments.options(arguments.RUN)) | set(arguments.options(arguments.ADD))
    assert flags
    assert not flags - known


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, capsys):
    exec(compile(code, "example", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page):
    missing = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not missing


def test_no_file_holds_both_sides_of_a_merge():
    marks = re.compile(r"^(<{7}|\|{7}|>{7})( |$)", re.MULTILINE)
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT)
    files = [ROOT / name for name in listed.stdout.split("\0") if name] or PAGES
    torn = [
        str(file) for file in files if file.is_file() and marks.search(file.read_text("utf-8", "replace"))
    ]
    assert not torn


def test_the_guide_lists_all_its_sections_in_their_order():
    lines = (ROOT / "docs" / "guide.md").read_text("utf-8").splitlines()
    listed = re.findall(r"\[([^]]+)\]\(#([^)]+)\)", "\n".join(lines[: lines.index("## What it can read")]))
    named = [line.lstrip("# ") for line in lines if line.startswith(("## ", "### "))]
    assert [(name, name.lower().replace(" ", "-")) for name in named] == listed


def test_decisions_are_numbered_without_gaps():
    numbers = [int(page.name[:4]) for page in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_pages_name_the_extras_that_there_are():
    extras = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    )
    named = set()
    for page in PAGES:
        for extra in re.findall(r"(?:agent_nb|'\.)\[([a-z, -]+)\]", page.read_text("utf-8")):
            named |= set(extra.split(","))
    assert {"data", "semantic", "semantic-large", "postgres"} <= named <= extras
