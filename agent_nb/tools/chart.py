"""`draw_chart`: one picture from a query or a variable, on a figure of its own, never through pyplot."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any, Literal

from ..errors import ToolError
from . import duck, fonts
from .plain import number
from .result import Reply, as_png
from .sql import Queries
from .tool import Tool, tool

Json = dict[str, Any]
Kind = Literal["bar", "barh", "line", "scatter", "hist"]
CATEGORIES = 30
SERIES = 8
POINTS = 20_000
ROWS = 500_000
_COLOURS = ("#3b6fb6", "#e07b39", "#4f9d69", "#b5485d", "#8064a2", "#937860", "#c9a227", "#5b9aa0")
_STYLE: dict[Any, Any] = {
    "text.usetex": False,
    "text.parse_math": False,  # a dollar sign in a label is a dollar sign
    "axes.unicode_minus": True,
    "font.size": 10.5,
    "axes.titlesize": 12.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "axes.facecolor": "white",
    "figure.facecolor": "white",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
}


def chart_tool(queries: Queries) -> Tool:
    """`draw_chart` over what `queries` can read."""

    @tool(takes=3.0)
    def draw_chart(kind: Kind, data: str, x: str, y: str = "", series: str = "", title: str = "") -> object:
        """Draw one chart; it appears in the cell. Bars and lines need one row for each x (and series).

        Args:
            kind: bar, barh (long labels), line (over time), scatter (two numbers), hist (one number).
            data: a SELECT as in query_sql, or the name of a table variable.
            x: column of the categories, times or numbers.
            y: column of the numbers; not for hist.
            series: column whose values become separate lines, bars or colours.
            title: what the chart shows, with its unit.
        """
        frame, notes = _read(queries, data, [name for name in (x, y, series) if name])
        frame, more = prepare(kind, frame, x, y, series)
        figure, font_note = draw(kind, frame, x, y, series, title)
        png = as_png(figure)
        if png is None:
            raise ToolError("the chart could not be drawn from these values; try another kind or fewer rows")
        notes = [*notes, *more, *([font_note] if font_note else [])]
        body: Json = {"chart": kind, "title": title, "points": len(frame)}
        return Reply(body | ({"note": "; ".join(notes)} if notes else {}), figure, (png,))

    return draw_chart


def _read(queries: Queries, data: str, wanted: list[str]) -> tuple[Any, list[str]]:
    """The wanted columns of a variable or a query, under the names that were asked for."""
    name = data.strip()
    sql = f"SELECT * FROM {duck.quoted(name)}" if name in queries.namespace else name.rstrip("; \n")
    if re.fullmatch(r"\w+", name) and name not in queries.namespace:
        raise ToolError(f"there is no table {name!r}; give a variable's name or a SELECT")
    columns = list(queries.run(f"DESCRIBE {sql}")[0]["column_name"])
    folded = {column.casefold(): column for column in columns}
    for column in wanted:
        if column.casefold() not in folded:
            raise ToolError(f"the data has no column {column!r}; columns: {', '.join(columns[:40])}")
    picked = dict.fromkeys(f"{duck.quoted(folded[c.casefold()])} AS {duck.quoted(c)}" for c in wanted)
    frame, complete = queries.run(f"SELECT {', '.join(picked)} FROM ({sql}\n)", rows=ROWS)
    return frame, [] if complete else [f"only the first {ROWS:,} rows are drawn"]


def prepare(kind: str, frame: Any, x: str, y: str, series: str) -> tuple[Any, list[str]]:
    """The rows that are drawn, and what was left out, in words. Raises ToolError where there are none."""
    notes: list[str] = []
    if kind != "hist" and not y:
        raise ToolError(f"{kind} needs y, the column of the numbers")
    numbers = {"hist": [x], "scatter": [x, y]}.get(kind, [y])
    for column in dict.fromkeys(numbers):
        frame = _as_numbers(frame, column, "x" if column == x else "y", kind)
    whole = len(frame)
    frame = frame.dropna(subset=list(dict.fromkeys([x, *numbers])))
    if len(frame) < whole:
        notes.append(f"{whole - len(frame):,} rows without a value are left out")
    if not len(frame):
        raise ToolError("there is nothing to draw: the data has no rows with values")
    if series:
        frame = frame.assign(
            **{series: frame[series].map(lambda v: "(none)" if v != v or v is None else _label(v))}
        )
        frame = _top(frame, series, y, SERIES, "series", notes)
    if kind in ("bar", "barh", "line"):
        _once_each(frame, x, series, kind)
    if kind in ("bar", "barh") or (kind == "line" and not _is_ordered(frame[x])):
        limit = CATEGORIES if kind != "line" else 200
        frame = _top(frame, x, y, limit, "bars" if kind != "line" else "points", notes)
    if kind in ("line", "scatter") and len(frame) > POINTS:
        step = -(-len(frame) // POINTS)
        frame = frame.iloc[::step]
        notes.append(f"every {step}th of {whole:,} points is drawn")
    return frame.reset_index(drop=True), notes


def _as_numbers(frame: Any, column: str, role: str, kind: str) -> Any:
    import numpy as np
    import pandas as pd

    values = frame[column]
    if values.dtype.kind in "mM":
        raise ToolError(f"{role} of {kind} is a number, and {column!r} holds times")
    try:
        numbers = pd.to_numeric(values.astype(object)).astype("float64")
    except (TypeError, ValueError):
        raise ToolError(f"{role} of {kind} is a number, and {column!r} holds text") from None
    return frame.assign(**{column: numbers.where(np.isfinite(numbers))})


def _once_each(frame: Any, x: str, series: str, kind: str) -> None:
    keys = list(dict.fromkeys([x, series] if series else [x]))
    if frame.duplicated(keys).any():
        each = " and ".join(repr(key) for key in keys)
        raise ToolError(
            f"{kind} needs one row for each {each}, and some have several; aggregate in the query first"
            f" (SELECT {', '.join(keys)}, sum(…) … GROUP BY {', '.join(keys)}), or use scatter"
        )


def _top(frame: Any, column: str, y: str, limit: int, what: str, notes: list[str]) -> Any:
    """The rows of the `limit` values of a column that weigh most; of bars the greatest comes first."""
    count = frame[column].nunique()
    if count <= limit:
        return frame
    weights = (
        frame.groupby(column, sort=False)[y].apply(lambda v: v.abs().sum())
        if y
        else frame[column].value_counts()
    )
    kept = weights.nlargest(limit).index
    notes.append(f"the {limit} largest of {count:,} {what}")
    frame = frame[frame[column].isin(kept)]
    if what != "bars":
        return frame
    return frame.sort_values(column, key=lambda values: values.map(kept.get_loc), kind="stable")


def _is_ordered(values: Any) -> bool:
    return values.dtype.kind in "iufM" or hasattr(values.dtype, "tz")


def draw(kind: str, frame: Any, x: str, y: str, series: str, title: str) -> tuple[Any, str]:
    """(figure, a sentence about missing fonts or ""). No global state of matplotlib is left changed."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups = (
        [(str(key), rows) for key, rows in frame.groupby(series, sort=False)] if series else [("", frame)]
    )
    texts = [title, x, y, series, *(key for key, _ in groups)]
    if not _is_ordered(frame[x]):
        texts += [_label(value) for value in frame[x].unique()[:500]]
    family, note = fonts.families(texts)
    with matplotlib.rc_context({**_STYLE, "font.family": family}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is told in the result
        tall = kind == "barh"
        height = 1.6 + 0.26 * frame[x].nunique() * max(1, 0.6 * len(groups)) if tall else 4.6
        figure = Figure(figsize=(8.2, max(3.0, min(height, 11.0))), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_prop_cycle(color=_COLOURS)
        _DRAW[kind](axes, groups, x, y)
        axes.set_title(_short(title, 90))
        if len(groups) > 1:
            axes.legend(
                title=_short(series, 30),
                loc="best" if kind in ("line", "scatter") else "upper left",
                bbox_to_anchor=None if kind in ("line", "scatter") else (1.0, 1.0),
            )
        figure.canvas.draw()
    return figure, note


def _bars(axes: Any, groups: list[tuple[str, Any]], x: str, y: str, flat: bool = False) -> None:
    order = list(dict.fromkeys(value for _, rows in groups for value in rows[x]))
    if all(_is_ordered(rows[x]) for _, rows in groups):
        order.sort()
    place = {value: i for i, value in enumerate(order)}
    thick = 0.8 / len(groups)
    for i, (label, rows) in enumerate(groups):
        at = [place[value] + (i - (len(groups) - 1) / 2) * thick for value in rows[x]]
        draw_bars = axes.barh if flat else axes.bar
        bars = draw_bars(at, rows[y], thick * 0.95, label=label)
        if len(groups) == 1 and len(order) <= 12:
            axes.bar_label(bars, _figures(list(rows[y])), padding=3, fontsize=9, color="#444444")
    labels = [_short(_label(value), 34 if flat else 24) for value in order]
    set_ticks, along = (axes.set_yticks, axes.yaxis) if flat else (axes.set_xticks, axes.xaxis)
    set_ticks(range(len(order)), labels)
    along.set_tick_params(length=0)
    if flat:
        axes.invert_yaxis()
        axes.margins(x=0.1, y=0.02)
    else:
        _tilt(axes, labels)
        axes.margins(y=0.1)
    _finish(axes, *((y, x) if flat else (x, y)), grid="x" if flat else "y", values="x" if flat else "y")
    low = min(float(rows[y].min()) for _, rows in groups)
    if low < 0:
        (axes.axvline if flat else axes.axhline)(0, color="#666666", linewidth=0.9)


def _barh(axes: Any, groups: list[tuple[str, Any]], x: str, y: str) -> None:
    _bars(axes, groups, x, y, flat=True)


def _line(axes: Any, groups: list[tuple[str, Any]], x: str, y: str) -> None:
    ordered = all(_is_ordered(rows[x]) for _, rows in groups)
    order = list(dict.fromkeys(value for _, rows in groups for value in rows[x]))
    place = {value: i for i, value in enumerate(order)}
    for label, rows in groups:
        rows = rows.sort_values(x) if ordered else rows
        at = rows[x] if ordered else [place[value] for value in rows[x]]
        axes.plot(
            at, rows[y], marker="o" if len(rows) <= 40 else "", markersize=4, linewidth=1.8, label=label
        )
    if not ordered:
        step = -(-len(order) // 24)
        labels = [_short(_label(value), 24) for value in order[::step]]
        axes.set_xticks(range(0, len(order), step), labels)
        _tilt(axes, labels)
    elif groups[0][1][x].dtype.kind == "M" or hasattr(groups[0][1][x].dtype, "tz"):
        _dates(axes)
    elif len(order) <= 31 and all(float(value).is_integer() for value in order):
        axes.set_xticks(sorted(order), [f"{value:g}" for value in sorted(order)])
    _finish(axes, x, y, grid="y", values="y")


def _scatter(axes: Any, groups: list[tuple[str, Any]], x: str, y: str) -> None:
    many = sum(len(rows) for _, rows in groups)
    for label, rows in groups:
        axes.scatter(
            rows[x],
            rows[y],
            s=26 if many < 500 else 9,
            alpha=0.8 if many < 500 else 0.45,
            linewidths=0,
            label=label,
        )
    _finish(axes, x, y, grid="both", values="both")


def _hist(axes: Any, groups: list[tuple[str, Any]], x: str, y: str) -> None:
    import numpy as np

    everything = np.concatenate([rows[x].to_numpy() for _, rows in groups])
    low, high = float(everything.min()), float(everything.max())
    count = int(min(60, max(8, np.ceil(2 * len(everything) ** (1 / 3)))))
    edges = np.linspace(low, high, count + 1) if high > low else np.array([low - 0.5, low + 0.5])
    for label, rows in groups:
        axes.hist(
            rows[x],
            bins=edges,
            label=label,
            alpha=0.85 if len(groups) == 1 else 0.55,
            edgecolor="white",
            linewidth=0.5,
        )
    _finish(axes, x, "count", grid="y", values="both")


_DRAW: dict[str, Any] = {"bar": _bars, "barh": _barh, "line": _line, "scatter": _scatter, "hist": _hist}


def _finish(axes: Any, x: str, y: str, grid: str, values: str) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.set_xlabel(_short(x, 60))
    axes.set_ylabel(_short(y, 60))
    axes.grid(visible=True, axis=grid)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if values in (name, "both"):
            axis.set_major_formatter(FuncFormatter(lambda value, _: _figure(value)))


def _dates(axes: Any) -> None:
    import matplotlib.dates as dates

    # Their constructors carry no types.
    make_locator: Any = dates.AutoDateLocator
    make_formatter: Any = dates.ConciseDateFormatter
    locator = make_locator(minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(make_formatter(locator))


def _tilt(axes: Any, labels: list[str]) -> None:
    """Labels that would run into each other are set aslant."""
    width = sum(2 if ord(c) > 0x2E80 else 1 for label in labels for c in label)
    if width > 80 or len(labels) > 16:
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")


def _figures(values: list[float]) -> list[str]:
    """The numbers over bars, all with as many decimals as give the largest four digits: 6.851, 2.446, −0.097."""
    top = max(map(abs, values), default=0)
    if not 1e-3 <= top < 10_000 or all(value == int(value) for value in values):
        return [_figure(value) for value in values]
    decimals = max(0, 3 - math.floor(math.log10(top)))
    if any(value and not round(value, decimals) for value in values):  # too small to be told that way
        return [_figure(value) for value in values]
    return [f"{value:,.{decimals}f}".replace("-", "−") for value in values]


def _figure(value: float) -> str:
    """A number for an axis: 12,345 · 2013 · 0.25 · 12.6 · 3.4e-05."""
    if value == 0 or 1e-3 <= abs(value) < 1e15:
        rounded = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"
        return rounded.replace("-", "−")
    return f"{value:.3g}".replace("-", "−", 1)


def _label(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00").replace("T", " ")
    return f"{number(value):g}" if isinstance(value, float) and value == value else str(value)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
