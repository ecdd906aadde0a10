"""Memory: what outlives the session. `Memory` is the door; the other modules are the rooms behind it."""

from .memory import Memory
from .record import MemoryRecord

__all__ = ["Memory", "MemoryRecord"]
