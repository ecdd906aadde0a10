"""The tables of a store, as numbered migrations: each is whole or not done, and none is ever changed."""

from __future__ import annotations

import sqlite3
import time

from ..errors import StoreError

MIGRATIONS = [
    """
    CREATE TABLE records (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, status TEXT NOT NULL, recorded TEXT NOT NULL,
        superseded_by TEXT NOT NULL, normal TEXT NOT NULL, key TEXT NOT NULL,
        terms TEXT NOT NULL, embedder TEXT NOT NULL, vector BLOB, data TEXT NOT NULL);
    CREATE INDEX records_user ON records (user, status);
    CREATE INDEX records_normal ON records (user, normal);
    CREATE INDEX records_key ON records (user, key);
    CREATE TABLE log (n INTEGER PRIMARY KEY, user TEXT NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL,
        id TEXT NOT NULL, detail TEXT NOT NULL);
    CREATE INDEX log_user ON log (user, n);
    CREATE TABLE changes (user TEXT PRIMARY KEY, n INTEGER NOT NULL);
    """,
    # What was written when, so that an open index reads only what is new; columns that are counted and filtered.
    """
    ALTER TABLE records ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE records ADD COLUMN type TEXT AS (json_extract(data, '$.type'));
    ALTER TABLE records ADD COLUMN source TEXT AS (json_extract(data, '$.source'));
    ALTER TABLE records ADD COLUMN session TEXT AS (json_extract(data, '$.session'));
    ALTER TABLE records ADD COLUMN expires TEXT AS (json_extract(data, '$.expires'));
    ALTER TABLE changes ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX records_changed ON records (user, changed);
    CREATE INDEX records_kind ON records (user, status, type, source);
    CREATE INDEX records_chain ON records (user, superseded_by);
    """,
    # Every record has a number of its own, growing with each one written and never given twice: what an index calls
    # a record by. The vector stands last, so that reading the other columns never walks over it.
    """
    CREATE TABLE numbered (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL, status TEXT NOT NULL,
        recorded TEXT NOT NULL, superseded_by TEXT NOT NULL, normal TEXT NOT NULL, key TEXT NOT NULL,
        terms TEXT NOT NULL, changed INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL, embedder TEXT NOT NULL,
        type TEXT AS (json_extract(data, '$.type')), source TEXT AS (json_extract(data, '$.source')),
        session TEXT AS (json_extract(data, '$.session')), expires TEXT AS (json_extract(data, '$.expires')),
        vector BLOB);
    INSERT INTO numbered (id, user, status, recorded, superseded_by, normal, key, terms, changed, data, embedder,
        vector) SELECT id, user, status, recorded, superseded_by, normal, key, terms, changed, data, embedder, vector
        FROM records ORDER BY rowid;
    DROP TABLE records;
    ALTER TABLE numbered RENAME TO records;
    CREATE INDEX records_user ON records (user, status);
    CREATE INDEX records_normal ON records (user, normal);
    CREATE INDEX records_key ON records (user, key);
    CREATE INDEX records_changed ON records (user, changed);
    CREATE INDEX records_kind ON records (user, status, type, source);
    CREATE INDEX records_chain ON records (user, superseded_by);
    """,
    # Forgetting: what was marked when, and each user's own settings.
    """
    CREATE TABLE marks (user TEXT NOT NULL, record TEXT NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (user, record));
    CREATE TABLE settings (user TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (user, name));
    CREATE INDEX records_ends ON records (user, status, expires);
    """,
    # Which version of the tokeniser made a user's terms; what the user calls by several names; when things happened.
    """
    ALTER TABLE records ADD COLUMN created TEXT AS (json_extract(data, '$.created'));
    ALTER TABLE changes ADD COLUMN tokens INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE synonyms (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, term TEXT NOT NULL,
        means TEXT NOT NULL, UNIQUE (user, term, means));
    """,
    # What records state of how things are related; see `graph`.
    """
    CREATE TABLE triples (user TEXT NOT NULL, record TEXT NOT NULL, subject TEXT NOT NULL, relation TEXT NOT NULL,
        object TEXT NOT NULL);
    CREATE INDEX triples_relation ON triples (user, relation);
    CREATE INDEX triples_record ON triples (user, record);
    """,
    # What each record is about, by which contradictions are found; and what records were before they changed.
    """
    CREATE TABLE topics (user TEXT NOT NULL, id TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (user, id));
    CREATE INDEX topics_user ON topics (user, topic);
    CREATE TABLE undo (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, change TEXT NOT NULL, id TEXT NOT NULL,
        action TEXT NOT NULL, at TEXT NOT NULL, before TEXT NOT NULL);
    CREATE INDEX undo_user ON undo (user, id);
    CREATE INDEX undo_change ON undo (user, change);
    """,
    # What has no vector of the present embedder is found without reading the records that have one.
    """
    CREATE INDEX records_lacking ON records (user, status, embedder, id);
    """,
    # Turns that wait to be distilled; and what was said in passing, counted until it is promoted.
    """
    CREATE TABLE queue (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, run TEXT NOT NULL, at TEXT NOT NULL,
        turn TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, error TEXT NOT NULL, next_try TEXT NOT NULL,
        UNIQUE (user, run));
    CREATE INDEX queue_due ON queue (user, state, next_try);
    CREATE TABLE heard (user TEXT NOT NULL, topic TEXT NOT NULL, text TEXT NOT NULL, runs TEXT NOT NULL,
        session TEXT NOT NULL, last TEXT NOT NULL, PRIMARY KEY (user, topic));
    """,
    # The vectors of a long record's second and further pieces; that of the first stands with the record.
    """
    CREATE TABLE pieces (user TEXT NOT NULL, record TEXT NOT NULL, at INTEGER NOT NULL, changed INTEGER NOT NULL,
        vector BLOB, PRIMARY KEY (user, record, at));
    CREATE INDEX pieces_changed ON pieces (user, changed);
    """,
    # The turn before a turn, and the one behind it.
    """
    CREATE INDEX records_turns ON records (user, session, type);
    """,
]


def migrate(db: sqlite3.Connection, upto: int | None = None) -> None:
    """Bring the tables to a version, the present one by default; each step is whole or not done."""
    wanted = len(MIGRATIONS) if upto is None else upto
    for _ in range(3):
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if max(version, wanted) > len(MIGRATIONS):
            newer = max(version, wanted)
            raise StoreError(f"the memory is of a newer version ({newer}); update agent_nb to open it")
        if version >= wanted:
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been faster while this one waited for the lock.
            at = int(db.execute("PRAGMA user_version").fetchone()[0])
            for number in range(at, wanted):
                for statement in filter(str.strip, MIGRATIONS[number].split(";")):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number + 1}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        time.sleep(0)


def tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Table → its columns that are written (computed ones are not), as they stand in an open file."""
    query = "SELECT name FROM sqlite_master WHERE type='table' AND (name NOT LIKE 'sqlite_%' OR name='sqlite_sequence')"
    names = sorted(row[0] for row in db.execute(query).fetchall())
    return {
        name: [row[1] for row in db.execute(f'PRAGMA table_xinfo("{name}")').fetchall() if not row[6]]
        for name in names
    }
