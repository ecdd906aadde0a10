"""The server of tests/memory, for this folder too."""

import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location(
    "memory_conftest", pathlib.Path(__file__).parents[1] / "memory" / "conftest.py"
)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
server, prepared, database = _module.server, _module.prepared, _module.database
