"""Numbers, lists and sentences of an answer, in English or Chinese."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

MODEL = "claude-sonnet-5-5"

Thought = str | tuple[str, str]
"""What is said before a call; a pair is (English, Chinese), of which the goal's language is taken."""
Steps = Generator[tuple[Thought, str, dict[str, Any]], dict[str, Any], Any]
"""A piece of work: yields (thought, tool, input), is sent the tool's result, and returns what it found."""


class Words:
    """Says things in one language. `zh` True: Chinese."""

    def __init__(self, zh: bool) -> None:
        self.zh = zh

    def __call__(self, english: str, chinese: str) -> str:
        return chinese if self.zh else english

    def first_line(self) -> str:
        """What answers must say first."""
        return self(
            "(Offline: rules answer here, not a language model.)",
            "（离线模式：这里是规则在回答，不是语言模型。）",
        )

    def stat(self, name: str) -> str:
        """A statistic's name."""
        english = {
            "total": "total",
            "mean": "mean",
            "median": "median",
            "min": "minimum",
            "max": "maximum",
            "count": "number",
            "distinct": "number of different",
            "share": "share",
            "std": "standard deviation of",
        }
        chinese = {
            "total": "总计",
            "mean": "平均值",
            "median": "中位数",
            "min": "最小值",
            "max": "最大值",
            "count": "数量",
            "distinct": "不同值的个数",
            "share": "占比",
            "std": "标准差",
        }
        if name[1:].isdigit():
            return self(f"{int(name[1:])}th percentile of", f"第{int(name[1:])}百分位数")
        return (chinese if self.zh else english).get(name, name)

    def what(self, stat: str, label: str) -> str:
        """A statistic of a measure: "mean dep_delay", "销售额总计"."""
        if stat == "count" and label == "rows":
            return self("number of rows", "行数")
        if stat == "share":
            return self(f"share of {label}", f"{label}占比")
        return f"{label}{self.stat(stat)}" if self.zh else f"{self.stat(stat)} {label}"


def number(value: Any) -> str:
    """A value as it is shown: whole numbers with separators, others with two decimals or three digits."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if float(value) == int(value):
        return f"{int(value):,}"
    if abs(value) >= 0.1:
        return f"{value:,.2f}"
    return f"{value:.3g}"


def signed(value: Any) -> str:
    """A difference with its sign."""
    text = number(value)
    return text if value is None or text.startswith("-") else f"+{text}"


def table(columns: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    cells = [
        [_cell(c) for c in columns],
        ["---"] * len(columns),
        *[[_cell(number(v)) for v in row] for row in rows],
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
