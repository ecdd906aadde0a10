"""Texts and vectors on their way to PostgreSQL and back."""

from __future__ import annotations

import struct
import sys
from array import array
from typing import TYPE_CHECKING, Any

from . import dialect

if TYPE_CHECKING:
    import psycopg


class Vector(bytes):
    """float32 values, as they stand in memory, on their way to a column of pgvector's type."""


def register(connection: psycopg.Connection[Any]) -> None:
    """Let a connection take any text and vectors as bytes, and give them back as they were."""
    from psycopg.adapt import Buffer, Dumper, Loader
    from psycopg.pq import Format

    class TextLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> str:
            return dialect.read(bytes(data).decode())

    class VectorLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> bytes:
            return _turned(bytes(data)[4:])

    class VectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Vector) -> bytes:
            return struct.pack(">HH", len(obj) // 4, 0) + _turned(obj)

    connection.adapters.register_loader("text", TextLoader)
    row = connection.execute(
        "SELECT oid FROM pg_type WHERE typname = 'vector' ORDER BY oid LIMIT 1"
    ).fetchone()
    if row:
        connection.adapters.register_loader(row[0], VectorLoader)
        VectorDumper.oid = row[0]
        connection.adapters.register_dumper(Vector, VectorDumper)


def _turned(data: bytes) -> bytes:
    """float32 values from this machine's order of bytes to the network's, or back."""
    if sys.byteorder == "big":
        return data
    values = array("f", data)
    values.byteswap()
    return values.tobytes()
