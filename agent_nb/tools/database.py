"""Databases of the notebook (SQLAlchemy engines): their tables, and one SELECT that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import CutShort, ToolError
from .table import unique_names
from .waiting import waiting

Json = dict[str, Any]
TABLES = 200
_DIALECTS = {"postgresql": "postgres", "mssql": "tsql", "sqlite": "sqlite", "mariadb": "mysql"}
_STEPS = 20_000
"""Virtual machine steps of SQLite between two looks at the stop button: well under a millisecond."""
# Functions that write, sleep, read files or reach out, by the name that parsers give them.
_FORBIDDEN = """
    load_extension writefile readfile edit fts3_tokenizer eval
    pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file pg_file_write pg_sleep pg_sleep_for pg_sleep_until
    pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_switch_wal
    pg_create_restore_point
    pg_advisory_lock pg_advisory_xact_lock pg_try_advisory_lock pg_notify set_config nextval setval
    lo_import lo_export lo_create lo_unlink lo_from_bytea lo_put dblink dblink_exec dblink_connect
    query_to_xml database_to_xml
    load_file sleep benchmark get_lock release_lock sys_exec sys_eval
    openrowset opendatasource openquery xp_cmdshell
"""
FORBIDDEN = frozenset(_FORBIDDEN.split())


def is_engine(value: Any) -> bool:
    """Whether a value is a SQLAlchemy engine; only its type is looked at."""
    return any(
        cls.__module__ == "sqlalchemy.engine.base" and cls.__name__ == "Engine" for cls in type(value).__mro__
    )


def tables(name: str, engine: Any) -> Iterator[Json]:
    """Entries of the tables and views of a database, each named "engine.table"."""
    import sqlalchemy

    inspector = sqlalchemy.inspect(engine)
    found = [*inspector.get_table_names(), *inspector.get_view_names()]
    if not found:
        yield {"name": name, "type": "database", "summary": "no tables"}
    for table in found[:TABLES]:
        described = [{"name": c["name"], "dtype": str(c["type"])} for c in inspector.get_columns(table)]
        yield {"name": f"{name}.{table}", "type": "database table", "columns": described}
    if len(found) > TABLES:
        yield {"name": name, "type": "database", "summary": f"{len(found) - TABLES:,} more tables"}


def columns(engine: Any, table: str) -> list[Json]:
    """name and dtype of each column of a table ("table" or "schema.table"). Raises ToolError."""
    import sqlalchemy

    schema, _, name = table.rpartition(".")
    try:
        found = sqlalchemy.inspect(engine).get_columns(name, schema=schema or None)
    except Exception as error:
        raise ToolError(f"there is no table {table!r} ({_one_line(error)})") from None
    return [{"name": column["name"], "dtype": str(column["type"])} for column in found]


def query(engine: Any, sql: str, rows: int) -> tuple[Any, bool]:
    """(DataFrame of at most `rows` rows, whether that is all) of one SELECT, in a transaction that is undone.

    Raises:
        ToolError: it is not exactly one SELECT that only reads, or the database refuses it.
    """
    dialect = engine.dialect.name
    check(sql, _DIALECTS.get(dialect, dialect))
    try:
        if dialect == "sqlite":
            return _sqlite(engine, sql, rows)
        return _server(engine, sql, rows)
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(_one_line(error)) from None


def check(sql: str, dialect: str) -> None:
    """By parsing: exactly one statement, and nothing in it that writes. Raises ToolError."""
    import sqlglot
    from sqlglot import exp

    try:
        statements = [s for s in sqlglot.parse(sql, read=dialect) if s is not None]
    except Exception as error:
        raise ToolError(f"the SQL could not be read: {_one_line(error)}") from None
    if len(statements) != 1:
        raise ToolError(f"give exactly one SELECT; this has {len(statements)} statements")
    statement = statements[0]
    if not isinstance(statement, (exp.Query, exp.Values)):
        raise ToolError(
            f"only SELECT may run here, not {statement.key.upper()}; it reads and changes nothing"
        )
    writing = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Pragma, exp.Set)
    for node in statement.walk():
        if isinstance(node, writing) and not isinstance(node, exp.Query):
            raise ToolError(f"only SELECT may run here; {node.key.upper()} inside it would change something")
        if isinstance(node, exp.Func):
            name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
            if name in FORBIDDEN or name.startswith("pragma_"):
                raise ToolError(f"the function {name} may not run here; it does more than read tables")


def _sqlite(engine: Any, sql: str, rows: int) -> tuple[Any, bool]:
    """On this thread, where its connection lives. The stop button is noticed by SQLite's progress handler."""
    stopped: list[BaseException] = []

    def tick() -> int:
        try:
            return 1 if stopped else 0
        except (KeyboardInterrupt, CutShort) as error:
            stopped.append(error)
            return 1

    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        before = raw.execute("PRAGMA query_only").fetchone()[0]
        raw.execute("PRAGMA query_only=ON")
        raw.set_progress_handler(tick, _STEPS)
        try:
            return _read(connection, sql, rows)
        except Exception as error:
            if stopped or "interrupted" in str(error):
                raise (stopped[0] if stopped else KeyboardInterrupt()) from None
            raise
        finally:
            raw.set_progress_handler(None, 0)
            connection.rollback()
            raw.execute(f"PRAGMA query_only={'ON' if before else 'OFF'}")


def _server(engine: Any, sql: str, rows: int) -> tuple[Any, bool]:
    with engine.connect() as connection:
        if engine.dialect.name in ("postgresql", "mysql", "mariadb"):
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        raw = connection.connection.driver_connection
        stop = getattr(raw, "cancel", None) or getattr(raw, "interrupt", None) or (lambda: None)
        try:
            return waiting(lambda: _read(connection, sql, rows), stop, "query_sql")
        finally:
            connection.rollback()


def _read(connection: Any, sql: str, rows: int) -> tuple[Any, bool]:
    import pandas as pd

    cursor = connection.execution_options(stream_results=True).exec_driver_sql(sql)
    found = cursor.fetchmany(rows + 1)
    names = list(cursor.keys())
    cursor.close()
    frame = pd.DataFrame([tuple(row) for row in found[:rows]], columns=range(len(names)))
    frame.columns = unique_names([str(name) for name in names])
    return frame, len(found) <= rows


def _one_line(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    text = " ".join(str(original).split())
    return text[:500] or type(error).__name__
