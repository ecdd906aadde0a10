"""What is asked, as parts of SQL: measures, dimensions, filters, and the statements made of them."""

from __future__ import annotations

import dataclasses

from .axis import Axis
from .grounding import Join
from .operations import Wanted
from .periods import Period
from .schema import Column, Table
from .text import OWN, own


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number to aggregate. `sql` "" means rows; `predicate` makes it the share of rows where it holds; `stat`: its
    own statistic, where it is not the query's."""

    sql: str
    label: str
    columns: tuple[Column, ...] = ()
    predicate: str = ""
    stat: str = ""


@dataclasses.dataclass(frozen=True)
class Dimension:
    """Something to group by; `named` and `name_sql`: a look-up table with a readable name of it, and that column."""

    sql: str
    label: str
    name_sql: str = ""
    columns: tuple[str, ...] = ()
    named: Join | None = None

    @property
    def name_key(self) -> str:
        """The result's column that holds the readable name."""
        return f"{self.label}_name"


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
    rows: bool = False
    outer: Dimension | None = None

    @property
    def source(self) -> str:
        """FROM clause: the table, as f where look-up tables stand beside it."""
        if not self.joins:
            return self.table.sql
        return "\n".join([f"{self.table.sql} AS f", *[f"  {j.sql}" for j in self.joins.values()]])

    def conditions(self, *more: str) -> str:
        """WHERE clause with these conditions too, or ""."""
        every = [c for c in [*self.where, *more] if c]
        if len(every) > 1:
            every = [f"({c})" if " OR " in c else c for c in every]
        return f"\nWHERE {' AND '.join(every)}" if every else ""

    def render(self, sql: str) -> str:
        """SQL ready to run: columns of the table itself get its alias where there is one."""
        return sql.replace(OWN, "f." if self.joins else "")

    @property
    def measure(self) -> Measure:
        """The first measure; rows where none was named."""
        return self.measures[0] if self.measures else Measure("", "rows")


def aggregate(stat: str, measure: Measure) -> str:
    """The SQL of a statistic of a measure."""
    if measure.predicate:
        return f"100.0 * AVG({value_of(measure)})"
    if not measure.sql or stat == "count":
        return "COUNT(*)"
    if stat.startswith("p") and stat[1:].isdigit():
        return f"QUANTILE_CONT({measure.sql}, {int(stat[1:]) / 100:g})"
    return {
        "total": f"SUM({measure.sql})",
        "mean": f"AVG({measure.sql})",
        "median": f"MEDIAN({measure.sql})",
        "min": f"MIN({measure.sql})",
        "max": f"MAX({measure.sql})",
        "distinct": f"COUNT(DISTINCT {measure.sql})",
        "std": f"STDDEV_SAMP({measure.sql})",
    }[stat]


def value_of(measure: Measure) -> str:
    """A row's value: of a condition 1 or 0, or NULL where one of its columns is missing."""
    if not measure.predicate:
        return measure.sql
    if len(measure.columns) < 2:
        return f"CAST({measure.predicate} AS INTEGER)"
    known = " AND ".join(f"{own(c.name)} IS NOT NULL" for c in measure.columns)
    return f"CASE WHEN {known} THEN CAST({measure.predicate} AS INTEGER) END"


def counted(measure: Measure) -> str:
    """How many rows count: those with a known value."""
    return f"COUNT({value_of(measure) or '*'})"
