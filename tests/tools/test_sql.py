"""SQL reads the notebook's tables and nothing else, stops when it is told to, and says what was wrong."""

import _thread
import json
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy

from agent_nb.errors import SettingError
from agent_nb.tools.data import data_tools
from agent_nb.tools.tool import Toolbox


@pytest.fixture
def namespace():
    return {
        "orders": pd.DataFrame({"id": [1, 2, 3], "city": ["Oslo", "Rom", "Oslo"], "price": [1.5, None, 4.0]}),
        "cities": pl.DataFrame({"city": ["Oslo", "Rom"], "people": [700_000, 2_800_000]}),
        "rates": pa.table({"code": ["NOK"], "rate": [0.09]}),
        "lazy": pl.LazyFrame({"a": [1, 2]}),
        "secret": "x",
    }


@pytest.fixture
def box(namespace):
    return Toolbox(data_tools(namespace), namespace=namespace)


def ask(box, query, database=""):
    seen = box.run("t", "query_sql", {"query": query, "database": database})
    return json.loads(seen.content[0]["text"])


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT city, sum(price) AS s FROM orders GROUP BY city ORDER BY city", [["Oslo", 5.5], ["Rom", None]]),
        ("WITH o AS (SELECT * FROM orders) SELECT count(*) FROM o", [[3]]),
        ("FROM orders SELECT id ORDER BY id DESC LIMIT 1", [[3]]),
        ("SELECT o.id, c.people FROM orders o JOIN cities c USING (city) WHERE id = 2", [[2, 2_800_000]]),
        ("SELECT rate FROM rates", [[0.09]]),
        ("FROM lazy", [[1], [2]]),
        ("select SUM(ID) from Orders -- drop table orders", [[6]]),
        ("VALUES (1)", [[1]]),
        ("SELECT 'it''s; DROP TABLE x' AS t", [["it's; DROP TABLE x"]]),
        ("SELECT 1;", [[1]]),
        ("SELECT date '2013-07-01' AS d, timestamp '2013-07-01 10:00' AS t, 1.50::DECIMAL(9,2) AS x",
         [["2013-07-01", "2013-07-01T10:00:00", 1.5]]),
        ("SELECT [1, 2] AS l, {'a': 1} AS s, 'x'::BLOB AS b", [[[1, 2], {"a": 1}, "x"]]),
    ],
)  # fmt: skip
def test_one_select_reads_tables_of_any_library(box, query, rows):
    got = ask(box, query)
    assert got["ok"], got
    assert got["rows"] == rows
    assert got["total_rows"] == len(rows)


HOSTILE = [
    "CREATE TABLE t (a INT)", "CREATE VIEW v AS SELECT 1", "INSERT INTO orders VALUES (1, 'x', 2)",
    "UPDATE orders SET id = 1", "DELETE FROM orders", "DROP TABLE orders", "ALTER TABLE orders ADD COLUMN x INT",
    "ATTACH '/tmp/x.db' AS x", "COPY orders TO '/tmp/x.csv'", "COPY (SELECT 1) TO '/tmp/x.csv'", "EXPORT DATABASE '/tmp/x'",
    "INSTALL httpfs", "LOAD httpfs", "SET enable_external_access=true", "RESET lock_configuration", "PRAGMA threads=1",
    "CALL pragma_version()", "CHECKPOINT", "VACUUM", "BEGIN", "USE x", "PREPARE p AS SELECT 1", "EXECUTE p",
    "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE orders", "SELECT 1;/**/;DELETE FROM orders", "/* SELECT */ DROP TABLE orders",
    "-- SELECT\nDROP TABLE orders", "WITH x AS (INSERT INTO orders VALUES (1,'a',2) RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x", "EXPLAIN ANALYZE DELETE FROM orders",
    "SELECT * INTO t FROM orders", "CREATE MACRO f() AS 1", "CREATE SECRET s (TYPE S3)", "SET VARIABLE x = 1",
    "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'", "SELECT * FROM '/etc/hosts.csv'", "SELECT * FROM \"/etc/passwd\"",
    "SELECT * FROM read_json('/etc/passwd')", "SELECT * FROM read_parquet('/x.parquet')", "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')", "SELECT * FROM parquet_metadata('/x.parquet')", "SELECT getenv('HOME')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')", "SELECT * FROM 'https://example.org/x.csv'",
    "SELECT * FROM read_csv('s3://bucket/x.csv')", "SELECT * FROM read_duckdb('/tmp/x.db')", "SELECT nextval('s')",
    "ＳＥＬＥＣＴ 1", "SEL\u200bECT 1", "", ";", "   -- nothing", "SELECT", "\x00", "SELECT 1\x00; DROP TABLE orders",
    "SELECT * FROM namespace", "SELECT * FROM box", "SELECT * FROM secret",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_everything_else_is_refused_in_one_line_and_changes_nothing(box, namespace, query):
    before = namespace["orders"].copy()
    got = ask(box, query)
    assert got["ok"] is False
    assert got["error"]
    assert "root:" not in json.dumps(got)
    assert "\n" not in got["error"]
    pd.testing.assert_frame_equal(namespace["orders"], before)
    assert ask(box, "SELECT count(*) FROM orders")["rows"] == [[3]]


def test_a_python_variable_of_the_tool_itself_is_out_of_reach(box):
    frame = pd.DataFrame({"a": [1]})  # DuckDB would find it in the frames of the stack
    assert len(frame)
    assert ask(box, "SELECT * FROM frame")["ok"] is False


def test_answers_follow_a_changed_table(box, namespace):
    query = "SELECT sum(id) FROM orders"
    assert ask(box, query)["rows"] == [[6]]
    namespace["orders"].loc[0, "id"] = 100
    assert ask(box, query)["rows"] == [[105]]
    namespace["orders"] = pd.DataFrame({"id": [7]})
    assert ask(box, query)["rows"] == [[7]]


def test_a_result_can_be_queried_by_its_name(box):
    name = ask(box, "SELECT * FROM range(50) t(i)")["name"]
    assert ask(box, f"SELECT max(i) FROM {name}")["rows"] == [[49]]


def test_errors_name_what_there_is(box):
    assert "price" in ask(box, "SELECT pric FROM orders")["error"]
    assert "cities" in ask(box, "SELECT * FROM citys")["error"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", "A"]),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")])),
        pd.DataFrame([[1, 2]], columns=[0, 1.5]),
        pd.DataFrame({"": [1], "select": [2]}),
        pd.DataFrame({'quo"te': [1], "空 格": [2]}),
        pd.DataFrame({"p": pd.period_range("2013-01", periods=1, freq="M"), "q": [1]}),
        pd.DataFrame({"p": pd.arrays.SparseArray([1.0]), "q": [1]}),
        pd.DataFrame({"p": [1 + 2j], "q": [1]}),
        pd.DataFrame({"p": pd.Categorical(["a"]), "q": pd.to_timedelta(["1h"])}),
        pd.DataFrame({"p": [{"a": 1}], "q": [[1, 2]]}),
        pd.DataFrame({"p": pd.to_datetime(["2013-01-01"]).tz_localize("Europe/Oslo"), "q": [1]}),
        pd.DataFrame({"g": ["a"], "v": [1]}).set_index("g"),
        pd.DataFrame({"g": ["a"], "v": [1]}).set_index("g", drop=False),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_tables_of_odd_names_and_types_can_be_read(namespace, box, frame):
    namespace["odd"] = frame
    got = ask(box, "SELECT * FROM odd")
    assert got["ok"], got
    assert len(set(got["columns"])) == len(got["columns"]) >= 2
    assert got["total_rows"] == 1


def test_tables_of_odd_variable_names_can_be_read(namespace, box):
    namespace["订单"] = namespace["orders"]
    namespace["order"] = namespace["orders"]
    namespace["Orders2"], namespace["orders2"] = namespace["orders"], namespace["orders"].head(1)
    assert ask(box, "SELECT count(*) FROM 订单")["rows"] == [[3]]
    assert ask(box, 'SELECT count(*) FROM "order"')["rows"] == [[3]]
    assert "double quotes" in ask(box, "SELECT count(*) FROM order")["error"]
    assert ask(box, "SELECT count(*) FROM orders2")["rows"] == [[1]]


def test_files_that_the_user_named_can_be_read_and_no_others(tmp_path):
    for name in ("named.csv", "other.csv"):
        (tmp_path / name).write_text("a,b\n1,x\n2,y\n")
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    pd.DataFrame({"k": [5]}).to_parquet(folder / "x.parquet")
    box = Toolbox(data_tools({}, [tmp_path / "named.csv", folder]))
    assert ask(box, f"SELECT sum(a) FROM '{tmp_path}/named.csv'")["rows"] == [[3]]
    path = str(folder / "x.parquet").replace("'", "''")
    assert ask(box, f"SELECT k FROM '{path}'")["rows"] == [[5]]
    assert ask(box, f"SELECT * FROM '{tmp_path}/other.csv'")["ok"] is False
    assert ask(box, f"SELECT * FROM '{tmp_path}/*.csv'")["ok"] is False
    with pytest.raises(SettingError):
        data_tools({}, [tmp_path / "missing.csv"])


def test_many_rows_are_read_up_to_a_cap_that_is_told(box):
    got = ask(box, "SELECT * FROM range(3000000)")
    assert got["ok"]
    assert "more than 1,000,000" in got["note"]


def interrupt_soon(after_s=0.3):
    threading.Timer(after_s, _thread.interrupt_main).start()


SLOW = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"


def test_a_long_query_stops_and_the_next_one_works(box):
    interrupt_soon()  # the query alone would run for hours
    with pytest.raises(KeyboardInterrupt):
        ask(box, SLOW)
    assert ask(box, "SELECT count(*) FROM orders")["rows"] == [[3]]


@pytest.fixture(params=["memory", "file"])
def engine(request, tmp_path):
    where = "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path}/shop.db"
    engine = sqlalchemy.create_engine(where)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    yield engine
    engine.dispose()


@pytest.fixture
def shop(engine):
    namespace = {"shop": engine, "other": 3}
    return Toolbox(data_tools(namespace), namespace=namespace)


def test_a_database_is_queried_in_its_own_sql(shop):
    assert ask(shop, "SELECT a, b FROM t WHERE b GLOB 'x*'", "shop")["rows"] == [[1, "x"]]
    assert ask(shop, "WITH q AS (SELECT a FROM t) SELECT sum(a) FROM q", "shop")["rows"] == [[3]]
    assert ask(shop, "SELECT '%' || b FROM t UNION ALL SELECT ':x' ORDER BY 1", "shop")["rows"] == [
        ["%x"],
        ["%y"],
        [":x"],
    ]
    assert "no such column" in ask(shop, "SELECT zz FROM t", "shop")["error"]
    assert "shop" in ask(shop, "SELECT 1", "other")["error"]


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO t VALUES (3, 'z')", "UPDATE t SET a = 9", "DELETE FROM t", "DELETE FROM t RETURNING a", "DROP TABLE t",
        "CREATE TABLE u AS SELECT * FROM t", "REPLACE INTO t VALUES (1, 'q')", "ATTACH 'x.db' AS x", "DETACH x", "VACUUM",
        "PRAGMA query_only=OFF", "PRAGMA table_info(t)", "SELECT 1; DELETE FROM t", "SELECT load_extension('x')",
        "SELECT * FROM pragma_table_info('t')", "BEGIN", "ROLLBACK", "SAVEPOINT s", "REINDEX", "ANALYZE", "EXPLAIN DELETE FROM t",
        "WITH q AS (DELETE FROM t RETURNING *) SELECT * FROM q", "/* SELECT */ DELETE FROM t", "SELECT writefile('x', 'y')",
        "", "nonsense",
    ],
)  # fmt: skip
def test_a_database_is_only_read(shop, engine, query):
    got = ask(shop, query, "shop")
    assert got["ok"] is False
    assert "\n" not in got["error"]
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT * FROM t").fetchall() == [(1, "x"), (2, "y")]
        assert connection.exec_driver_sql("PRAGMA query_only").scalar() == 0
        connection.exec_driver_sql("INSERT INTO t VALUES (3, 'z')")


def test_a_long_database_query_stops_and_the_next_one_works(shop):
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    interrupt_soon()  # the query alone would run for hours
    with pytest.raises(KeyboardInterrupt):
        ask(shop, slow, "shop")
    assert ask(shop, "SELECT count(*) FROM t", "shop")["rows"] == [[2]]


@pytest.mark.parametrize(
    ("query", "dialect"),
    [
        ("SELECT pg_read_file('/etc/passwd')", "postgres"), ("SELECT lo_import('/etc/passwd')", "postgres"),
        ("SELECT * INTO x FROM t", "postgres"), ("SELECT * FROM t FOR UPDATE", "postgres"), ("COPY t TO '/x'", "postgres"),
        ("SELECT pg_sleep(100)", "postgres"), ("SELECT setval('s', 1)", "postgres"), ("DO $$ BEGIN END $$", "postgres"),
        ("WITH q AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM q", "postgres"), ("CALL f()", "postgres"),
        ("SELECT pg_catalog.pg_read_file('/x')", "postgres"), ("SET ROLE admin", "postgres"), ("GRANT ALL ON t TO x", "postgres"),
        ("SELECT load_file('/etc/passwd')", "mysql"), ("SELECT 1 INTO OUTFILE '/x'", "mysql"), ("SELECT sleep(9)", "mysql"),
        ("SELECT * INTO x FROM t", "tsql"), ("EXEC xp_cmdshell 'x'", "tsql"), ("SELECT NEXTVAL('s')", "postgres"),
    ],
)  # fmt: skip
def test_servers_are_only_read_by_their_own_grammar(query, dialect):
    from agent_nb.errors import ToolError
    from agent_nb.tools.database import check

    with pytest.raises(ToolError):
        check(query, dialect)


def test_describe_tells_what_a_column_holds(box, namespace):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"v": rng.normal(size=1_000), "g": rng.choice(["a", "b"], 1_000), "token": "t0p"})
    frame.loc[:9, "v"] = None
    namespace["frame"] = frame
    got = json.loads(box.run("1", "describe_variable", {"name": "frame"}).text)
    v, g, token = got["columns"]
    assert (got["rows"], v["nulls"], v["distinct"]) == (1_000, 10, 990)
    assert v["mean"] == pytest.approx(frame["v"].mean(), rel=1e-8)
    assert v["std"] == pytest.approx(frame["v"].std(), rel=1e-8)
    assert [v["q25"], v["median"], v["q75"]] == pytest.approx(
        frame["v"].quantile([0.25, 0.5, 0.75]).tolist(), rel=1e-8
    )
    assert {t["value"]: t["count"] for t in g["top"]} == frame["g"].value_counts().to_dict()
    assert "t0p" not in json.dumps(token)


def test_describe_knows_dates_other_values_and_databases(box, namespace, engine):
    namespace["days"] = pd.DataFrame({"d": pd.date_range("2013-01-01", "2013-12-31")})
    namespace["shop"] = engine
    days = json.loads(box.run("1", "describe_variable", {"name": "days", "column": "d"}).text)["columns"][0]
    assert (days["min"], days["max"]) == ("2013-01-01", "2013-12-31")
    table = json.loads(box.run("1", "describe_variable", {"name": "shop.t"}).text)
    assert table["rows"] == 2
    assert table["columns"][0]["max"] == 2
    assert "orders" in box.run("1", "describe_variable", {"name": "orderz"}).text
    assert "price" in box.run("1", "describe_variable", {"name": "orders", "column": "zz"}).text
    assert "hidden" in box.run("1", "describe_variable", {"name": "secret"}).text
    for name in ("cities", "rates", "lazy"):
        assert box.run("1", "describe_variable", {"name": name}).ok


BAD = [pd.DataFrame(), pd.DataFrame(index=range(3)), pl.DataFrame(), pl.DataFrame({"o": [object()]})]


@pytest.mark.parametrize("frame", BAD)
def test_tables_that_cannot_be_read_are_told_in_one_line(box, namespace, frame):
    namespace["bad"] = frame
    for name, given in (("query_sql", {"query": "FROM bad"}), ("describe_variable", {"name": "bad"})):
        got = json.loads(box.run("1", name, given).text)
        assert got["ok"] is False
        assert "bad cannot be queried" in got["error"]
    assert ask(box, "SELECT count(*) FROM orders")["ok"], "a bad table does no harm where it is not named"


def test_a_table_under_a_secret_name_stays_out_of_reach(box, namespace):
    namespace["credentials"] = pd.DataFrame({"a": ["s3cr3t-value"]})
    assert ask(box, "SELECT a AS x FROM credentials")["ok"] is False
    assert "s3cr3t" not in box.run("1", "describe_variable", {"name": "credentials"}).text


def test_infinities_do_not_hide_the_ends_of_a_column(box, namespace):
    namespace["inf"] = pd.DataFrame({"v": [1.0, np.inf, -np.inf, np.nan, 5.0]})
    column = json.loads(box.run("1", "describe_variable", {"name": "inf"}).text)["columns"][0]
    assert (column["min"], column["max"], column["mean"]) == (1.0, 5.0, 3.0)


def test_of_a_wide_table_the_first_columns_are_described_or_the_one_asked_for(box, namespace):
    namespace["wide"] = pd.DataFrame(np.arange(6_000.0).reshape(3, 2_000))
    got = json.loads(box.run("1", "describe_variable", {"name": "wide"}).text)
    assert len(got["columns"]) == 40
    assert "1,960 more columns" in got["note"]
    last = json.loads(box.run("2", "describe_variable", {"name": "wide", "column": "1999"}).text)["columns"]
    assert [last[0][key] for key in ("min", "max")] == [1_999.0, 5_999.0]
