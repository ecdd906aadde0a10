"""Files that the user names in a goal are tables; all others stay closed."""

import json

import pandas as pd
import pytest

from agent_nb import Session
from agent_nb.models.scripted import ScriptedModel
from agent_nb.tools.files import named_files, table_names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text("region,amount\nnorth,10.5\nsouth,20\n")
    (tmp_path / "other.csv").write_text("a\n1\n")
    (tmp_path / "销售.csv").write_text("地区,金额\n华东,3\n")
    (tmp_path / "deep").mkdir()
    pd.DataFrame({"k": [5]}).to_parquet(tmp_path / "deep" / "sales.csv.parquet")
    (tmp_path / "with blank.csv").write_text("a\n1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("total amount by region in sales.csv", ["sales.csv"]),
        ("read ./sales.csv, then other.csv.", ["sales.csv", "other.csv"]),
        ("use 'with blank.csv'", ["with blank.csv"]),
        ("统计 销售.csv 的金额", ["销售.csv"]),
        ("sales.csv里各地区的总额", ["sales.csv"]),
        ("计算sales.csv的总额，再看other.csv", ["sales.csv", "other.csv"]),
        ("use deep/sales.csv.parquet", ["deep/sales.csv.parquet"]),
        ("missing.csv and sales.xlsx and sales", []),
    ],
)
def test_named(text, names, folder):
    assert named_files(text) == [str(folder / name) for name in names]


def test_two_files_of_one_name_are_told_apart():
    assert table_names(["/a/x.csv", "/b/x.csv"]) == {"x.csv": "/a/x.csv", "b/x.csv": "/b/x.csv"}


def use(sql):
    return {"content": [{"type": "tool_use", "id": "t", "name": "query_sql", "input": {"query": sql}}]}


def test_a_named_file_is_a_table_and_no_other_file_can_be_read(folder):
    def asked(goal, sql):
        session = Session(ScriptedModel([use(sql), "ok"]), memory=None, namespace={})
        return json.loads(session.run(goal).task.observations[0].text)

    assert asked("sum sales.csv", 'SELECT sum(amount) FROM "sales.csv"')["rows"] == [[30.5]]
    assert asked("sum sales.csv", f"SELECT sum(amount) FROM '{folder}/sales.csv'")["rows"] == [[30.5]]
    for sql in ('SELECT * FROM "other.csv"', f"SELECT * FROM '{folder}/other.csv'", "SELECT * FROM '*.csv'"):
        assert asked("sum sales.csv", sql)["ok"] is False


def test_a_later_goal_of_the_session_may_still_read_it(folder):
    session = Session(
        ScriptedModel(["ok", use('SELECT count(*) FROM "sales.csv"'), "2"]), memory=None, namespace={}
    )
    session.run("look at sales.csv")
    assert session.run("how many rows?").task.observations[0].ok


def test_the_offline_model_answers_from_a_file(folder):
    result = Session("offline", memory=None, namespace={}).run(
        "What is the total amount by region in sales.csv?"
    )
    assert result.done, result.text
    assert "20" in result.text
    assert "10.5" in result.text


def test_a_broken_file_says_why_in_the_list(folder):
    (folder / "bad.parquet").write_text("no parquet")
    use_list = {"content": [{"type": "tool_use", "id": "t", "name": "list_variables", "input": {}}]}
    session = Session(ScriptedModel([use_list, "ok"]), memory=None, namespace={})
    seen = session.run("look at bad.parquet and sales.csv").task.observations[0]
    listed = {entry["name"]: entry for entry in json.loads(seen.text)["variables"]}
    assert [c["name"] for c in listed["sales.csv"]["columns"]] == ["region", "amount"]
    assert listed["bad.parquet"]["summary"]
