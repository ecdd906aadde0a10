"""Answers that say something else than the results do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import events, evidence
from .reading import (
    Finding,
    Json,
    Turn,
    first,
    last,
    observations,
    of,
    rows_of,
    table_of,
    text_of,
    without_evidence,
)


def misread(turn: Turn) -> Iterator[Finding]:
    """A number that no result holds, or that a result holds for something else."""
    answered = last(turn, events.Answered)
    held = [seen for _, seen in observations(turn) if seen.get("ok")]
    if answered is None or not held:
        return
    for row in without_evidence(answered)[:5]:
        change = "ask again with “every number has evidence”"
        if near := _nearest(row, held):
            said = f"the answer says {row['text']}, and a result holds {near}"
        else:
            cut = any(_is_more(seen.get("total_rows"), len(table_of(seen)[1])) for seen in held)
            said = f"no result holds {row['text']}"
            said += " (and one was cut: it may be read off rows that were not shown)" if cut else ""
            change = "ask for it to be computed in the query; done when: every number has evidence"
        yield of("misread", said, answered, str(row["text"]), change)
    for sentence, number, name, whose in _of_another(answered, held):
        said = f"the answer gives {number} to {name}, and a result gives it to {whose}"
        yield of("misread", said, answered, sentence, f"ask for {name} alone")
    yield from _not_the_first(turn, answered, held)


_MOST = re.compile(r"\b(?:most|highest|largest|biggest|best)\b|最(?:高|多|大|好)", re.IGNORECASE)
_LEAST = re.compile(r"\b(?:least|lowest|smallest|fewest|worst)\b|最(?:低|少|小|差)", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:fell|fall|drop|decline|lost|rose|grew|growth|change|not)\w*|降|跌|涨|增|变化|不", re.IGNORECASE
)


def _not_the_first(turn: Turn, answered: events.Answered, held: list[Json]) -> Iterator[Finding]:
    """Asked for the most or the least, the answer names another row of a table of one number a row."""
    started = first(turn, events.RunStarted)
    goal = started.goal if started else ""
    asked = [words for words in (_MOST, _LEAST) if words.search(goal)]
    tables = [(seen, rows) for seen in held if (rows := table_of(seen)[1])]
    if len(asked) != 1 or len(tables) != 1 or _CHANGE.search(goal):
        return
    seen, rows = tables[0]
    numbers = [[cell for cell in row if isinstance(cell, int | float)] for row in rows]
    if seen.get("total_rows") != len(rows) or not all(len(cells) == 1 for cells in numbers):
        return
    sentence = next(
        (s.group() for s in _SENTENCE.finditer(answered.text) if any(_named(s.group(), rows))), ""
    )
    told = [n for n, named in enumerate(_named(sentence, rows)) if named]
    values = [cells[0] for cells in numbers]
    wanted = max(values) if asked == [_MOST] else min(values)
    if len(told) == 1 and values[told[0]] != wanted:
        said = f"the answer names the row of {values[told[0]]}, and {wanted} is the one that was asked for"
        yield of(
            "misread", said, answered, sentence.strip(), "ask for a query that sorts, and for its first row"
        )


def _named(sentence: str, rows: list[list[object]]) -> list[bool]:
    """Which rows the sentence names."""
    return [any(_names(cell, sentence) for cell in row) for row in rows]


def _of_another(answered: events.Answered, held: list[Json]) -> Iterator[tuple[str, str, str, str]]:
    """(sentence, number, name, whose it is): of a sentence about one row whose numbers all stand in other rows."""
    numbers = [(*row["span"], row) for row in rows_of(answered.evidence) if _is_span(row.get("span"))]
    for found in _SENTENCE.finditer(answered.text):
        inside = [row for begin, end, row in numbers if found.start() <= begin and end <= found.end()]
        for seen in held if inside else ():
            rows = table_of(seen)[1]
            named = [row for row, told in zip(rows, _named(found.group(), rows), strict=True) if told]
            if len(named) != 1 or any(_holds(named[0], row) for row in inside):
                continue
            for number in inside:
                others = [row for row in rows if _holds(row, number)]
                if others and number.get("sources") and not number.get("formula"):
                    name = next(str(cell) for cell in named[0] if _names(cell, found.group()))
                    whose = next((str(cell) for cell in others[0] if isinstance(cell, str)), "another row")
                    yield found.group().strip(), str(number.get("text")).strip(), name, whose
                    return


_SENTENCE = re.compile(r"(?:[^。！？!?;；\n.]|\.(?=\d))+")


def _is_more(total: object, shown: int) -> bool:
    return isinstance(total, int) and total > shown


def _is_span(span: object) -> bool:
    return isinstance(span, list | tuple) and len(span) == 2 and all(isinstance(at, int) for at in span)


def _names(cell: object, sentence: str) -> bool:
    """Whether the sentence holds this cell as a name."""
    if not isinstance(cell, str) or len(cell) < 2 or cell.replace(".", "").isdigit():
        return False
    edge = r"\b" if cell.isascii() else ""
    return re.search(rf"{edge}{re.escape(cell)}{edge}", sentence, re.IGNORECASE) is not None


def _holds(row: list[object], number: Json) -> bool:
    """Whether one of the cells is this number, to the digits that it shows."""
    value = number.get("value")
    if not isinstance(value, int | float):
        return False
    places = len(str(number.get("text")).strip().rpartition(".")[2]) if "." in str(number.get("text")) else 0
    cells = [cell for cell in row if isinstance(cell, int | float) and not isinstance(cell, bool)]
    return any(round(float(cell), places) == round(float(value), places) for cell in cells)


def _nearest(row: Json, held: list[Json]) -> str:
    """A number of a result that the answer's may have been meant to be: within 2 %, or its digits in another order."""
    value = row.get("value")
    if not isinstance(value, int | float) or not value:
        return ""
    digits = sorted(re.sub(r"\D", "", str(row["text"])))
    for seen in held:
        for number in evidence.trace(text_of(seen, 20_000), []):
            if number.value is None or number.value == value:
                continue
            close = abs(number.value - value) <= 0.02 * abs(value)
            if close or (len(digits) > 2 and sorted(re.sub(r"\D", "", number.text)) == digits):
                return number.text.strip()
    return ""
