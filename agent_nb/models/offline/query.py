"""What is asked, as parts of SQL: measures, dimensions, filters, and the statements made of them."""

from __future__ import annotations

import dataclasses

from .axis import Axis
from .grounding import Join
from .operations import Wanted
from .periods import Period
from .schema import Column, Table
from .text import quote


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number to aggregate. `sql` "" means rows; `predicate` makes it the share of rows where it holds."""

    sql: str
    label: str
    columns: tuple[Column, ...] = ()
    predicate: str = ""


@dataclasses.dataclass(frozen=True)
class Dimension:
    """Something to group by; `name_sql` is a readable name of it from a look-up table, or ""."""

    sql: str
    label: str
    name_sql: str = ""
    columns: tuple[str, ...] = ()


@dataclasses.dataclass
class Query:
    """What is asked of one table, ready to be turned into SQL."""

    table: Table
    want: Wanted
    stat: str = ""
    measures: list[Measure] = dataclasses.field(default_factory=list)
    dims: list[Dimension] = dataclasses.field(default_factory=list)
    where: list[str] = dataclasses.field(default_factory=list)
    where_labels: list[str] = dataclasses.field(default_factory=list)
    having: str = ""
    having_label: str = ""
    joins: dict[str, Join] = dataclasses.field(default_factory=dict)
    axis: Axis | None = None
    periods: list[Period] = dataclasses.field(default_factory=list)
    in_order: bool = False
    notes: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    chart: str = ""
    single_rows: bool = False
    together: bool = False

    @property
    def source(self) -> str:
        """FROM clause: the table as f, and its look-ups."""
        return " ".join([f"{self.table.sql} AS f", *[j.sql for j in self.joins.values()]])

    def conditions(self, *more: str) -> str:
        """WHERE clause with these conditions too, or ""."""
        every = [f"({c})" for c in [*self.where, *more] if c]
        return f" WHERE {' AND '.join(every)}" if every else ""

    @property
    def measure(self) -> Measure:
        """The first measure; rows where none was named."""
        return self.measures[0] if self.measures else Measure("", "rows")


def aggregate(stat: str, measure: Measure) -> str:
    """The SQL of a statistic of a measure."""
    if measure.predicate:
        return f"AVG(CASE WHEN {known(measure)} THEN CASE WHEN {measure.predicate} THEN 1.0 ELSE 0.0 END END) * 100"
    if not measure.sql or stat == "count":
        return "COUNT(*)"
    return {
        "total": f"SUM({measure.sql})",
        "mean": f"AVG({measure.sql})",
        "median": f"MEDIAN({measure.sql})",
        "min": f"MIN({measure.sql})",
        "max": f"MAX({measure.sql})",
        "distinct": f"COUNT(DISTINCT {measure.sql})",
    }[stat]


def known(measure: Measure) -> str:
    """Rows in which the columns of a predicate are not missing."""
    return " AND ".join(f"f.{quote(c.name)} IS NOT NULL" for c in measure.columns) or "1 = 1"


def counted(measure: Measure, condition: str = "") -> str:
    """How many rows count: those with a known value."""
    valued = f"{measure.sql} IS NOT NULL" if measure.sql else "1 = 1"
    inner = known(measure) if measure.predicate else valued
    both = f"{inner} AND {condition}" if condition else inner
    return f"COUNT(CASE WHEN {both} THEN 1 END)"
