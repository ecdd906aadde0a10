"""What a tool returns → what the model reads: success first, tables and texts cut with their totals.

The first content block is one JSON object:
    table  {"ok": true, "columns": […], "rows": [[…], …], "total_rows": 16, "name": "_r1", "note": …}
    value  {"ok": true, "value": …, "name": "_r2"}        text   {"ok": true, "text": "…", "total_chars": 123}
    error  {"ok": false, "error": "one line", "field": …, "expected": …}
Pictures follow as image blocks.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import warnings
from collections.abc import Callable
from typing import Any

from ..redact import MASK, redact, secret_name
from .plain import Plainly
from .table import Table, as_table

Json = dict[str, Any]
NOTHING: Any = object()
"""No value: None is one."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much of a result the model gets.

    Args:
        rows: first rows of a table.
        text_chars: characters of a text.
        total_chars: characters of the whole observation, pictures apart.
        pictures: at most so many.
    """

    rows: int = 10
    text_chars: int = 8_000
    total_chars: int = 16_000
    pictures: int = 4


@dataclasses.dataclass(frozen=True)
class Reply:
    """A result that its tool has shaped itself.

    Args:
        body: fields of the JSON object, after "ok".
        value: what stays in the kernel under a name; NOTHING: nothing does.
        pictures: PNG files.
        total_chars: its own cap in place of `Sizes.total_chars`; 0: none of its own.
        ok: False for a failure that has more to tell than one line.
    """

    body: Json
    value: Any = NOTHING
    pictures: tuple[bytes, ...] = ()
    total_chars: int = 0
    ok: bool = True


@dataclasses.dataclass(frozen=True)
class Shown:
    """What the model gets of a result: content blocks, and the parts that views draw."""

    content: list[Json]
    ok: bool = True
    columns: list[str] = dataclasses.field(default_factory=list)
    rows: list[list[Any]] = dataclasses.field(default_factory=list)
    total_rows: int | None = None
    artifacts: list[Json] = dataclasses.field(default_factory=list)


def show(value: Any, name: str = "", sizes: Sizes | None = None) -> Shown:
    """The result `value`, which stays in the kernel under `name` ("" where it does not). Never raises."""
    sizes = sizes or Sizes()
    reply = value if isinstance(value, Reply) else None
    picture = None if reply else as_png(value)
    if picture:
        reply = Reply({"picture": type(value).__name__}, value, (picture,))
    if reply:
        table = as_table(reply.value) if "columns" in reply.body and reply.value is not NOTHING else None
        fields = {key: inner for key, inner in reply.body.items() if key not in ("columns", "rows")}
    else:
        table, fields = as_table(value), {}
    if table:
        table = dataclasses.replace(table, complete=fields.pop("complete", True))
        return _show_table(table, fields, name, sizes)
    if reply:
        cap = reply.total_chars or sizes.total_chars
        text = _fit(lambda part: _reply(reply, name, int(cap * part)), cap)
        return _with_pictures(Shown([_text(text)], ok=reply.ok), reply.pictures, name, sizes)
    return Shown([_text(_fit(lambda part: _value(value, name, sizes, part), sizes.total_chars))])


def error(text: str, **more: Any) -> list[Json]:
    """Content blocks of a failure: one line, and fields such as `field` where they say something."""
    line = redact(" ".join(text.split()))
    body = {"ok": False, "error": line if len(line) <= 2_000 else line[:2_000] + "…"}
    return [_text(_dumps(body | {key: value for key, value in more.items() if value}))]


def hide(shown: Shown, secrets: list[str]) -> Shown:
    """The same result without the given texts, wherever they stand in it."""
    found = [s for s in secrets if any(_inside(s) in block.get("text", "") for block in shown.content)]
    if not found:
        return shown
    masked = json.dumps([shown.content, shown.columns, shown.rows], ensure_ascii=False)
    for secret in found:
        # Once as it stands in JSON, once as it stands in the JSON text that is inside of it.
        masked = masked.replace(_inside(_inside(secret)), MASK).replace(_inside(secret), MASK)
    content, columns, rows = json.loads(masked)
    return dataclasses.replace(shown, content=content, columns=columns, rows=rows)


def _inside(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def as_png(value: Any) -> bytes | None:
    """The picture that a matplotlib figure (or axes) or a PIL image is, or None. Imports nothing."""
    module = type(value).__module__
    try:
        if module.startswith("matplotlib."):
            figure = value if hasattr(value, "savefig") else getattr(value, "figure", None)
            return _figure_png(figure) if hasattr(figure, "savefig") else None
        if module.startswith("PIL.") and hasattr(value, "thumbnail"):
            buffer = io.BytesIO()
            small = value.copy()
            small.thumbnail((1_568, 1_568))
            (small if small.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else small.convert("RGB")).save(
                buffer, "PNG"
            )
            return buffer.getvalue()
    except Exception:
        return None
    return None


def _figure_png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    widest = max(figure.get_size_inches())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that no font has, labels that do not fit
        figure.savefig(buffer, format="png", dpi=min(figure.dpi, 1_568 / widest), bbox_inches="tight")
    return buffer.getvalue()


def _show_table(table: Table, fields: Json, name: str, sizes: Sizes) -> Shown:
    shown: list[Any] = []

    def build(part: float) -> Json:
        plainly = Plainly(int(sizes.total_chars * part), 20_000)
        count = (
            min(sizes.rows, table.total) if part > 0.9 else max(1, int(min(sizes.rows, table.total) * part))
        )
        wide = max(4, int(200 * part))
        columns = [plainly(column) for column in table.columns[:wide]]
        masked = [secret_name(column) for column in columns]
        rows = [
            [
                MASK if hide and isinstance(cell, str) else plainly(cell)
                for hide, cell in zip(masked, row, strict=False)
            ]
            for row in table.head(count)
        ]
        shown[:] = [columns, rows]
        notes = []
        total = f"{table.total:,}" if table.complete else f"more than {table.total:,}"
        if len(rows) < table.total or not table.complete:
            whole = f"; the whole table is {name}" if name and table.complete else ""
            notes.append(f"first {len(rows):,} of {total} rows{whole}")
        if len(columns) < len(table.columns):
            notes.append(f"first {len(columns):,} of {len(table.columns):,} columns")
        if plainly.cut:
            notes.append("long values are cut")
        if fields.get("note"):
            notes.append(str(fields["note"]))
        body: Json = {"columns": columns, "rows": rows, "total_rows": table.total}
        if len(columns) < len(table.columns):
            body["total_columns"] = len(table.columns)
        body |= {"name": name} if name else {}
        body |= {key: plainly(value) for key, value in fields.items() if key != "note"}
        return body | ({"note": "; ".join(notes)} if notes else {})

    text = _fit(build, sizes.total_chars)
    columns, rows = shown
    return Shown([_text(text)], columns=[str(c) for c in columns], rows=rows, total_rows=table.total)


def _value(value: Any, name: str, sizes: Sizes, part: float) -> Json:
    plainly = Plainly(int(sizes.text_chars * part), int(2_000 * part))
    plain = plainly(value)
    body: Json = {"text" if isinstance(value, str) else "value": plain}
    if isinstance(value, str):
        body["total_chars"] = len(value)
    body |= {"name": name} if name else {}
    if plainly.cut:
        what = f"the first {len(plain):,} of {len(value):,} characters" if isinstance(value, str) else "cut"
        body["note"] = what + (f"; the whole is {name}" if name else "")
    return body


def _reply(reply: Reply, name: str, characters: int) -> Json:
    plainly = Plainly(characters, 40_000)
    body: Json = {key: plainly(value) for key, value in reply.body.items()}
    body |= {"name": name} if name else {}
    if plainly.cut:
        body["note"] = "; ".join(filter(None, [str(body.get("note", "")), "long parts are cut"]))
    return body if reply.ok else {"ok": False} | body


def _fit(build: Callable[[float], Json], cap: int) -> str:
    """The JSON text of what `build` makes, given ever smaller parts of its size until it fits."""
    text = ""
    for part in (1.0, 0.6, 0.3, 0.15, 0.07, 0.03):
        text = _dumps({"ok": True} | build(part))
        if len(text) <= cap:
            return text
    return _dumps(
        {"ok": True, "text": text[: cap // 3], "total_chars": len(text), "note": "cut: too large to show"}
    )


def _with_pictures(shown: Shown, pictures: tuple[bytes, ...], name: str, sizes: Sizes) -> Shown:
    for number, png in enumerate(pictures[: sizes.pictures]):
        data = base64.b64encode(png).decode("ascii")
        source = {"type": "base64", "media_type": "image/png", "data": data}
        shown.content.append({"type": "image", "source": source})
        label = name or "figure"
        shown.artifacts.append(
            {"mime": "image/png", "data": data, "name": label + (f"_{number + 1}" if number else "")}
        )
    return shown


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _dumps(body: Json) -> str:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, default=str)
