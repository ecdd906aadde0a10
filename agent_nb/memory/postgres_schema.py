"""The tables on a PostgreSQL server: made from the store's own migrations, each user's rows closed to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from . import dialect, schema

if TYPE_CHECKING:
    import psycopg

Json = dict[str, Any]

SCHEMA = "agent_nb"
_ONE_AT_A_TIME = 0x6167656E74  # any number, as long as it stays the same: those who make tables wait on it

# What SQLite's json_extract gives of a text field. jsonb refuses a zero and half of a surrogate pair, which a memory's
# text may hold as escapes; only then the slow way is gone, in which those are replaced.
_FIELD = r"""
CREATE OR REPLACE FUNCTION field(data text, name text) RETURNS text IMMUTABLE STRICT LANGUAGE plpgsql AS $$
BEGIN
  RETURN data::jsonb ->> name;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
  RETURN regexp_replace(data,
    '\\u0000|\\u[dD][89abAB]\w\w(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]\w\w)\\u[dD][c-fC-F]\w\w',
    '\\ufffd', 'g')::jsonb ->> name;
END $$
"""

_MINE = "\"user\" = current_setting('agent_nb.user', true)"
_SEEN = """"user" IN (SELECT jsonb_array_elements_text(NULLIF(current_setting('agent_nb.scopes', true), '')::jsonb))"""
_POLICIES = {
    "seen": f"FOR SELECT USING ({_SEEN})",
    "added": f"FOR INSERT WITH CHECK ({_MINE})",
    "changed": f"FOR UPDATE USING ({_MINE}) WITH CHECK ({_MINE})",
    "removed": f"FOR DELETE USING ({_MINE})",
}


def prepare(connection: psycopg.Connection[Any]) -> str:
    """Bring the tables to the present version; gives the search path that finds them.

    Only a role that may make tables can do it; others are told to ask one. Raises StoreError in one line.
    """
    version = _version(connection)
    newest = len(schema.MIGRATIONS)
    if version > newest:
        raise StoreError(f"the memory is of a newer version ({version}); update agent_nb to open it")
    if version < newest:
        _migrate(connection)
    return _path(connection)


def facts(db: Any) -> Json:
    """The server's versions, and whether row-level security holds for this role."""
    server, vectors, free = db.execute(
        "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname='vector'),"
        " (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)"
    ).fetchone()
    held = "not for this role: it may bypass it; connect as one that may not" if free else "by user"
    return {"server": f"PostgreSQL {server}, pgvector {vectors}", "row_security": held}


def tables(db: Any) -> dict[str, list[str]]:
    """Table → its columns, as they stand on the server."""
    rows = db.execute(
        "SELECT table_name::text, array_agg(column_name::text ORDER BY ordinal_position)"
        " FROM information_schema.columns WHERE table_schema = ? GROUP BY 1",
        (SCHEMA,),
    ).fetchall()
    return dict(rows)


def text_columns(db: Any) -> list[tuple[str, str]]:
    """(table, column) of every text in a table that has a user, but the user itself."""
    rows = db.execute(
        "SELECT table_name::text, column_name::text FROM information_schema.columns c WHERE table_schema = ?"
        " AND data_type = 'text' AND is_generated = 'NEVER' AND column_name <> 'user' AND EXISTS (SELECT 1 FROM"
        " information_schema.columns o WHERE o.table_schema = c.table_schema AND o.table_name = c.table_name"
        " AND o.column_name = 'user') ORDER BY 1, ordinal_position",
        (SCHEMA,),
    ).fetchall()
    return [(table, column) for table, column in rows]


def _version(connection: psycopg.Connection[Any]) -> int:
    there = connection.execute("SELECT to_regclass('agent_nb.version')::text").fetchone()
    if not there or there[0] is None:
        return 0
    row = connection.execute(f"SELECT n FROM {SCHEMA}.version").fetchone()
    return int(row[0]) if row else 0


def _path(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(
        "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'vector'"
    ).fetchone()
    return f"{SCHEMA}, {row[0]}" if row else SCHEMA


def _migrate(connection: psycopg.Connection[Any]) -> None:
    import psycopg

    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            _extension(connection)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(f"SET LOCAL search_path = {_path(connection)}".encode())
            connection.execute("CREATE TABLE IF NOT EXISTS version (n BIGINT NOT NULL)")
            connection.execute(_FIELD)
            # Rows that are moved to a new table must be seen by its owner; all of this is one transaction.
            for table in _closed(connection):
                connection.execute(f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY'.encode())
            for number in range(_version(connection), len(schema.MIGRATIONS)):
                for statement in filter(str.strip, schema.MIGRATIONS[number].split(";")):
                    connection.execute(dialect.definition(statement).encode())
            connection.execute("DELETE FROM version")
            connection.execute("INSERT INTO version VALUES (%s)", (len(schema.MIGRATIONS),))
            _secure(connection)
    except psycopg.errors.InsufficientPrivilege as error:
        said = error.diag.message_primary
        raise StoreError(
            f"the memory's tables are missing or old, and this role may not make them ({said});"
            " open it once as a role that may"
        ) from None


def _extension(connection: psycopg.Connection[Any]) -> None:
    import psycopg

    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported):
        raise StoreError(
            "the server lacks the pgvector extension; install it there, then open again"
        ) from None


def _secure(connection: psycopg.Connection[Any]) -> None:
    """Row-level security on every table with a user column, whichever migration made it, the owner included."""
    for table in _closed(connection):
        connection.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY'.encode())
        connection.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY'.encode())
        for name, policy in _POLICIES.items():
            connection.execute(f'DROP POLICY IF EXISTS {name} ON "{table}"'.encode())
            connection.execute(f'CREATE POLICY {name} ON "{table}" {policy}'.encode())


def _closed(connection: psycopg.Connection[Any]) -> list[str]:
    """The tables that have a user column."""
    rows = connection.execute(
        "SELECT table_name::text FROM information_schema.columns WHERE table_schema = %s AND column_name = 'user'",
        (SCHEMA,),
    ).fetchall()
    return sorted(row[0] for row in rows)
