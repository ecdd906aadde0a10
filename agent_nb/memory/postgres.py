"""Memories of many users on many machines: PostgreSQL with pgvector, behind the same statements as the SQLite file.

Every transaction says whose it is, and the server itself shows it that user's rows alone (row-level security).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import SettingError, StoreError
from . import dialect, postgres_schema, postgres_types
from .store import BUSY_S, Store

if TYPE_CHECKING:
    import psycopg

Json = dict[str, Any]

_READS = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITES = "BEGIN ISOLATION LEVEL READ COMMITTED"
# The row of `changes` is the user's lock: writers of one user wait for each other here, before they read anything.
_LOCK = (
    'INSERT INTO changes ("user", n) VALUES ({user}, 1) ON CONFLICT ("user") DO UPDATE SET n = changes.n + 1'
)
_AGAIN = 3


class Session:
    """One transaction on the server that takes the store's own statements."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run a statement written for SQLite; gives a cursor."""
        query, vectors = dialect.statement(sql)
        values = [_value(value, at in vectors) for at, value in enumerate(parameters)]
        return self._connection.execute(query.encode(), values, binary=True)

    def executemany(self, sql: str, rows: Any, /) -> None:
        """The same statement for each row of parameters."""
        for row in rows:
            self.execute(sql, row)


class PostgresStore(Store):
    """Records of many users on a server; every statement names the user, and the server checks it.

    Args:
        url: postgresql://user:password@host:port/database, with any options that libpq knows.
        user: whose memories this store reads and writes.

    Safe from several threads, processes and machines. A connection that broke is opened again once; what was sent
    when it broke is not sent twice unless it certainly did nothing. Raises StoreError in one line, never with the
    password.
    """

    def __init__(self, url: str, user: str) -> None:
        if importlib.util.find_spec("psycopg") is None:
            raise SettingError("memories in PostgreSQL need psycopg: pip install 'agent_nb[postgres]'")
        super().__init__(None)
        self._url, self._user = url, user
        self._connection_: psycopg.Connection[Any] | None = None
        self._path = ""
        self._inside: Session | None = None

    @property
    def shown(self) -> str:
        """The address without its password."""
        return _without_password(self._url)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Statements that change nothing, all on one state of the tables."""
        with self._lock, self._told():
            if self._inside:
                yield self._inside
                return
            with self._transaction(self._begun(_READS, self._user)) as session:
                yield session

    @contextlib.contextmanager
    def writing(self, user: str) -> Iterator[Session]:
        """One transaction of `user`: all of it is kept, or nothing; others of the same user wait."""
        with self._lock, self._told(), self._transaction(self._begun(_WRITES, user, _LOCK)) as session:
            yield session

    def text_columns(self, db: Any) -> list[tuple[str, str]]:
        """(table, column) of every text that is kept for a user; what is erased is looked for in each."""
        return postgres_schema.text_columns(db)

    def scrub(self, holds: Callable[[pathlib.Path], bool]) -> bool:
        """Nothing: a server overwrites what was deleted by its own rules (vacuum, its log, its backups)."""
        return True

    def close(self) -> None:
        """Close the connection; it opens again at the next use."""
        with self._lock:
            connection, self._connection_ = self._connection_, None
            if connection is not None:
                connection.close()

    def facts(self) -> Json:
        """What `stats` tells: the server, and whether it keeps users apart for this role."""
        with self.reading() as db:
            return postgres_schema.facts(db)

    @contextlib.contextmanager
    def _transaction(self, connection: psycopg.Connection[Any]) -> Iterator[Session]:
        self._inside = Session(connection)
        try:
            yield self._inside
            self._inside = None
            self._commit(connection)
        except BaseException:
            self._inside = None
            with contextlib.suppress(Exception):
                connection.execute("ROLLBACK")
            if connection.closed or connection.info.transaction_status:
                self.close()
            raise

    def _commit(self, connection: psycopg.Connection[Any]) -> None:
        try:
            connection.execute("COMMIT")
        except _errors().OperationalError as error:
            if not connection.closed:
                raise
            raise StoreError(
                "the connection to the memory's server broke at the end of a write; look whether it was kept"
                f" before you write it again ({self._said(error)})"
            ) from None

    def _begun(self, begin: str, user: str, lock: str = "") -> psycopg.Connection[Any]:
        """A connection inside a new transaction of `user`; tried again where nothing can have happened yet."""
        errors = _errors()
        for left in reversed(range(_AGAIN)):
            connection = self._open()
            try:
                connection.execute(self._head(begin, user, lock).encode())
                return connection
            except (errors.OperationalError, errors.InterfaceError) as error:
                lost = connection.closed
                retried = isinstance(
                    error, errors.errors.SerializationFailure | errors.errors.DeadlockDetected
                )
                self._ended(connection)
                if not left or not (lost or retried):
                    raise
            except BaseException:
                self._ended(connection)
                raise
        raise AssertionError("the last try either returned or raised")

    def _ended(self, connection: psycopg.Connection[Any]) -> None:
        with contextlib.suppress(Exception):
            connection.execute("ROLLBACK")
        if connection.closed:
            self.close()

    def _head(self, begin: str, user: str, lock: str) -> str:
        """All that a transaction starts with, in one message; SET LOCAL ends with it."""
        named = [dialect.stored(name) for name in (user, self._user, *self.scopes)]
        values = {
            'agent_nb."user"': named[0],
            "agent_nb.scopes": json.dumps(sorted(set(named)), ensure_ascii=False),
            "lock_timeout": f"{int(BUSY_S * 1000)}ms",
        }
        parts = [begin, f"SET LOCAL search_path = {self._path}"]
        parts += [f"SET LOCAL {name} = {_literal(value)}" for name, value in values.items()]
        parts += [lock.format(user=_literal(named[0]))] if lock else []
        return "; ".join(parts)

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection_ is not None and self._connection_.closed:
            self.close()
        if self._connection_ is None:
            connection = _connected(self._url)
            try:
                self._path = postgres_schema.prepare(connection)
                postgres_types.register(connection)  # only now is the type of vectors surely there
            except BaseException:
                connection.close()
                raise
            self._connection_ = connection
        return self._connection_

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        errors = _errors()
        try:
            yield
        except errors.errors.LockNotAvailable:
            raise StoreError(
                f"the memory is being written by someone else for more than {BUSY_S:g} s; try again later"
            ) from None
        except errors.Error as error:
            hint = "check the server and its address"
            if isinstance(error, errors.errors.InsufficientPrivilege):
                hint = "ask its owner to grant this role the tables"
            raise StoreError(
                f"the memory on {self.shown} could not be used: {self._said(error)}; {hint}"
            ) from None

    def _said(self, error: Exception) -> str:
        """What the server said, in one line, without what came before the @ of the address."""
        diag = getattr(error, "diag", None)
        said = " ".join(str((diag and diag.message_primary) or error or type(error).__name__).split())
        for secret in _secrets(self._url):
            said = said.replace(secret, "…")
        return said[:300]


def _errors() -> Any:
    import psycopg

    return psycopg


def _connected(url: str) -> psycopg.Connection[Any]:
    import psycopg
    from psycopg import conninfo

    try:
        asked = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise SettingError(
            f"the address {_without_password(url)} is none; write postgresql://user:password@host:port/database"
            " with %40 for @, %2F for / and %3A for : in the password"
        ) from None
    usual: Json = {"connect_timeout": 10, "keepalives_idle": 30, "application_name": "agent_nb"}
    usual = {name: value for name, value in usual.items() if name not in asked}
    connection: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True, **usual)
    return connection


def _value(value: Any, vector: bool) -> Any:
    if isinstance(value, str):
        return dialect.stored(value)
    return postgres_types.Vector(value) if vector and value is not None else value


def _literal(text: str) -> str:
    # With standard_conforming_strings (the default since 9.1) only the quote itself is special.
    return "'" + text.replace("'", "''") + "'"


def _without_password(url: str) -> str:
    url = re.sub(r"(?<=//)(.*)@", lambda m: m[1].split(":")[0] + "@", url, count=1, flags=re.S)
    return re.sub(r"((?:password|sslpassword|passfile)=)[^&]*", r"\1…", url, flags=re.I)


def _secrets(url: str) -> list[str]:
    """What must never be shown: the password as it stands in the address, and as the server gets it."""
    from urllib.parse import unquote

    found = re.findall(r"//[^/]*?:(.*)@", url) + re.findall(r"(?:ssl)?password=([^&]*)", url)
    # A password with an @ or : of its own is taken apart by the server's client, which then tells the parts.
    found += [part for word in found for part in re.split("[@:/?&]", word) if len(part) > 3]
    return sorted({form for word in found for form in (word, unquote(word)) if form}, key=len, reverse=True)
