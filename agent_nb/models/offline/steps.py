"""What the analyses share: running SQL, naming what the numbers are about, drawing the chart."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from .query import Measure, Query
from .wording import Thought, Words

Json = dict[str, Any]


def together(
    *works: Generator[tuple[Thought, str, Json], Json, Any],
) -> Generator[tuple[Thought, str, Json], Json, list[Any]]:
    """Several works side by side: the calls that each of them wants next go out in one reply."""
    answers: list[Any] = [None] * len(works)
    waiting: dict[int, tuple[Thought, str, Json]] = {}

    def go_on(i: int, result: Json | None) -> None:
        try:
            waiting[i] = next(works[i]) if result is None else works[i].send(result)
        except StopIteration as stop:
            waiting.pop(i, None)
            answers[i] = stop.value

    for i in range(len(works)):
        go_on(i, None)
    while waiting:
        thoughts = [(said, said) if isinstance(said, str) else said for said, _, _ in waiting.values()]
        english, chinese = (" ".join(dict.fromkeys(said)) for said in zip(*thoughts, strict=True))
        nested = {i: name == TOGETHER for i, (_, name, _) in waiting.items()}
        wanted = {
            i: g["calls"] if nested[i] else [{"name": n, "input": g}] for i, (_, n, g) in waiting.items()
        }
        got = yield (
            (english, chinese),
            TOGETHER,
            {"calls": [call for calls in wanted.values() for call in calls]},
        )
        results = list(got["results"])
        for i, calls in wanted.items():
            own, results = results[: len(calls)], results[len(calls) :]
            go_on(i, {"results": own} if nested[i] else own[0])
    return answers


TOGETHER = "together"
"""No tool: the calls in its input are made in one reply."""


class Failed(Exception):
    """A tool said no; the message tells what."""


def run(query: Query, thought: str, sql: str) -> Generator[tuple[Thought, str, Json], Json, Json]:
    """Run SQL; its result, or Failed."""
    sql = query.render(sql)
    call = {"query": sql}
    if query.table.database:
        call["database"] = query.table.database
    got = yield thought, "query_sql", call
    if not got.get("ok"):
        raise Failed(str(got.get("error", "no result")))
    return {**got, "sql": sql}


def records(result: Json) -> list[Json]:
    """The rows of a table result as dicts."""
    return [dict(zip(result.get("columns", []), row, strict=False)) for row in result.get("rows", [])]


def scope(query: Query, say: Words, period: bool = True) -> str:
    """What the numbers are about: filters and period."""
    parts = list(query.where_labels)
    if period and query.periods:
        parts.append(", ".join(p.label for p in query.periods))
    if query.having_label:
        parts.append(query.having_label)
    return (f" ({'; '.join(parts)})" if not say.zh else f"（{'；'.join(parts)}）") if parts else ""


def what(query: Query, say: Words, measure: Measure | None = None) -> str:
    """The statistic and the measure in words."""
    measure = measure or query.measure
    stat = "share" if measure.predicate else measure.stat or query.stat or "count"
    label = measure.label if measure.sql or measure.predicate else "rows"
    if stat == "count":
        label = "rows"
    unit = " (%)" if measure.predicate else ""
    return say.what("mean" if stat == "mean or extreme" else stat, label) + unit


def nothing(query: Query, say: Words) -> str:
    """No rows match: said with what the data covers."""
    covers = f"; the data runs from {query.axis.first[:10]} to {query.axis.last[:10]}" if query.axis else ""
    covers_zh = f"；数据从 {query.axis.first[:10]} 到 {query.axis.last[:10]}" if query.axis else ""
    return say(
        f"No rows of {query.table.name} match{scope(query, say)}{covers}. What shall I look for instead?",
        f"{query.table.name} 里没有符合条件的行{scope(query, say)}{covers_zh}。要换成什么条件？",
    )


def say_day(day: int) -> str:
    """The name of a day of the week, 1 to 7."""
    return "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()[day - 1]


def group_name(query: Query, row: Json) -> str:
    """A group as it is named: "UA (United Air Lines Inc.)", "EWR, JFK"."""
    parts = []
    for d in query.dims:
        value = row.get(d.label)
        if d.label == "weekday" and not d.columns and isinstance(value, int):
            value = say_day(value)
        text = (
            "(missing)"
            if value is None
            else str(int(value))
            if isinstance(value, float) and value == int(value)
            else str(value)
        )
        name = row.get(d.name_key)
        parts.append(f"{text} ({name})" if name else text)
    return ", ".join(parts)


def chart(
    query: Query, names: set[str], result: Json, x: str, kind: str, count: int, say: Words, y: str = "value"
) -> Generator[tuple[Thought, str, Json], Json, str]:
    """Draw what the answer shows, where that helps or was asked for. Returns a sentence about it, or ""."""
    asked = query.want.chart
    if (
        asked == "none"
        or (not asked and not 2 <= count <= 40)
        or not (result.get("name") or result.get("sql"))
    ):
        return ""
    if "draw_chart" not in names:
        return (
            "\n\n"
            + say(
                "A chart was not drawn: the tool draw_chart is not mounted.",
                "没有画图：缺少 draw_chart 工具。",
            )
            if asked
            else ""
        )
    if asked == "pie":
        query.notes.append(
            (
                "a pie chart is not among the kinds that I can draw; it is a bar chart",
                "不能画饼图，改为柱状图",
            )
        )
    chosen = (
        asked
        if asked in ("bar", "barh", "line", "hist", "scatter") and not (asked == "hist" and kind != "hist")
        else kind
    )
    title = f"{what(query, say)}{scope(query, say)}"
    if y in ("change", "change_pct"):
        title = say(f"change of {title}", f"变化：{title}")
    call = {"kind": chosen, "data": result.get("name") or result["sql"], "x": x, "y": y, "title": title}
    got = yield say("A chart shows it at a glance.", "画一张图更直观。"), "draw_chart", call
    if not got.get("ok") and result.get("sql") and not query.table.database:  # the kept result is gone
        got = yield (
            say("I draw it from the query itself.", "直接用查询来画。"),
            "draw_chart",
            {**call, "data": result["sql"]},
        )
    if not got.get("ok"):
        return "\n\n" + say(
            f"The chart could not be drawn: {got.get('error')}", f"图没有画成：{got.get('error')}"
        )
    return ""
