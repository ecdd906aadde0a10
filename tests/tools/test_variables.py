"""Listing variables costs nothing, touches nothing, and tells no secret."""

import json
import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy

from agent_nb.tools.data import data_tools
from agent_nb.tools.tool import Toolbox, tool


def listed(namespace, pattern=""):
    text = (
        Toolbox(data_tools(namespace), namespace=namespace)
        .run("1", "list_variables", {"pattern": pattern})
        .text
    )
    assert len(text) <= 60_000
    return json.loads(text)


def entry(namespace, name):
    return next(e for e in listed(namespace)["variables"] if e["name"] == name)


def test_tables_come_with_their_columns_types_and_rows():
    namespace = {
        "x": 3,
        "p": pd.DataFrame({"a": [1], "b": ["t"]}),
        "q": pl.DataFrame({"a": [1]}),
        "r": pa.table({"a": [1.5]}),
        "keyed": pd.DataFrame({"v": [1]}, index=pd.Index([7], name="k")),
    }
    assert entry(namespace, "p") == {
        "name": "p",
        "type": "DataFrame",
        "rows": 1,
        "columns": [{"name": "a", "dtype": "int64"}, {"name": "b", "dtype": str(namespace["p"]["b"].dtype)}],
    }
    assert entry(namespace, "q")["columns"] == [{"name": "a", "dtype": "Int64"}]
    assert entry(namespace, "r")["columns"] == [{"name": "a", "dtype": "double"}]
    assert [c["name"] for c in entry(namespace, "keyed")["columns"]] == ["k", "v"]
    assert listed(namespace)["variables"][-1] == {"name": "x", "type": "int", "summary": "3"}


class Touchy:
    """Anything done to it but looking at its type is a failure."""

    touched: ClassVar[list] = []

    def _touch(self, *_):
        Touchy.touched.append(1)
        raise RuntimeError("touched")

    __len__ = __repr__ = __str__ = __iter__ = __eq__ = __bool__ = __getattr__ = _touch
    __hash__ = object.__hash__

    @property
    def __class__(self):
        self._touch()


def test_objects_are_not_touched_and_generators_not_consumed():
    generator = (i for i in range(3))
    found = {
        e["name"]: e
        for e in listed({"touchy": Touchy(), "generator": generator, "lazy": pl.LazyFrame({"a": [1]})})[
            "variables"
        ]
    }
    assert found["touchy"] == {"name": "touchy", "type": "Touchy", "summary": ""}
    assert not Touchy.touched
    assert list(generator) == [0, 1, 2]
    assert found["lazy"]["rows"] is None


def test_large_values_are_told_by_their_size():
    namespace = {
        "big": list(range(3_000_000)),
        "text": "x" * 50_000_000,
        "wide": pd.DataFrame(np.zeros((5, 2_000))),
    }
    got = {e["name"]: e for e in listed(namespace)["variables"]}
    assert "3,000,000" in got["big"]["summary"]
    assert "50,000,000" in got["text"]["summary"]
    assert len(got["wide"]["columns"]) + got["wide"]["more_columns"] == 2_000


def test_very_many_variables_are_cut_with_a_note():
    namespace = {f"frame{i}": pd.DataFrame(np.zeros((1, 50))) for i in range(300)} | {
        f"v{i}": i for i in range(3_000)
    }
    got = listed(namespace)
    assert "more of 3,300" in got["note"]
    assert got["variables"][0]["name"] == "frame0"


def test_what_is_not_the_users_is_left_out():
    @tool
    def helper(x: int) -> int:
        """H."""
        return x

    namespace = {
        "In": ["a"], "Out": {}, "_": 1, "__": 2, "_1": 3, "_i": "x", "_i12": "x", "_ii": "", "_dh": [], "_oh": {}, "_r1": 1,
        "__name__": "x", "exit": 1, "quit": 1, "get_ipython": 1, "_agent": 1, "json": json, "len": len, "f": lambda: 1,
        "C": Touchy, "helper": helper, "mine": 1, "_private": 2,
    }  # fmt: skip
    assert [e["name"] for e in listed(namespace)["variables"]] == ["mine", "_private"]


@pytest.mark.parametrize("name", ["password", "API_KEY", "github_token", "密码"])
def test_values_of_secret_names_are_hidden(name):
    assert "hunter2" not in json.dumps(listed({name: "hunter2", "cfg": {name: "hunter2"}}))


def test_secrets_are_masked_under_any_name():
    key = "sk-" + "ant-" + "a1B2" * 10
    assert key not in json.dumps(listed({"x": key, "y": {key: 1}, "z": [key]}))


def test_names_are_found_by_part_pattern_and_exactly():
    namespace = {"df": 1, "df2": 2, "other": 3, "MyDf": 4}
    assert [e["name"] for e in listed(namespace, "df2")["variables"]] == ["df2"]
    assert [e["name"] for e in listed(namespace, "df")["variables"]] == ["df"]
    assert [e["name"] for e in listed(namespace, "DF")["variables"]] == ["df", "df2", "MyDf"]
    assert [e["name"] for e in listed(namespace, "d*")["variables"]] == ["df", "df2"]
    assert "no variable matches" in listed(namespace, "zzz")["note"]
    assert "no variables" in listed({})["note"]


def test_databases_list_their_tables():
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a INTEGER, b TEXT)")
    for pattern in ("", "shop", "shop.t", "t"):
        assert listed({"shop": engine}, pattern)["variables"] == [
            {
                "name": "shop.t",
                "type": "database table",
                "columns": [{"name": "a", "dtype": "INTEGER"}, {"name": "b", "dtype": "TEXT"}],
            }
        ]
    engine.dispose()
    broken = sqlalchemy.create_engine("sqlite:////no/such/folder/x.db")
    assert "cannot be read" in json.dumps(listed({"broken": broken}))


def test_importing_the_tools_imports_no_heavy_package():
    import subprocess

    code = (
        "import sys; from agent_nb.tools.data import data_tools; from agent_nb.tools.python import python_tool;"
        "from agent_nb.tools.memory_tools import memory_tools; data_tools({'a': [1]})[0].run({});"
        "print([m for m in ('numpy', 'pandas', 'duckdb', 'matplotlib', 'sqlalchemy', 'sqlglot') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
