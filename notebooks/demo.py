"""Execute the quickstart headless on the offline model, and print what the agent did."""

import os
import pathlib
import shutil
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent / ".demo"


def main(name: str = "quickstart") -> int:
    """Run `notebooks/NAME.ipynb` in a home of its own, so that it finds no memory but what it writes."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    os.environ["AGENT_NB_HOME"] = str(OUT / "home")
    os.environ["IPYTHONDIR"] = str(OUT / "ipython")
    notebook = nbformat.read(HERE / f"{name}.ipynb", as_version=4)
    failed = None
    try:
        NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}
        ).execute()
    except CellExecutionError as error:
        failed = error
    for cell in notebook.cells:
        if cell.cell_type == "code":
            show(cell)
    page, _ = HTMLExporter().from_notebook_node(notebook)
    (OUT / f"{name}.html").write_text(page, encoding="utf-8")
    nbformat.write(notebook, OUT / f"{name}.ipynb")
    print(f"\nThe page: {OUT / f'{name}.html'}\nThe executed notebook: {OUT / f'{name}.ipynb'}")
    if failed:
        print(f"A cell failed: {failed.ename}: {failed.evalue}", file=sys.stderr)
    return 1 if failed else 0


def show(cell: nbformat.NotebookNode) -> None:
    """Print a cell and what it put out, as text."""
    print("\n" + "─" * 100)
    print("\n".join(f"In  │ {line}" for line in cell.source.splitlines()))
    for output in cell.outputs:
        text = (
            output.get("text")
            or output.get("data", {}).get("text/plain")
            or "\n".join(output.get("traceback", []))
        )
        print(text.rstrip())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
