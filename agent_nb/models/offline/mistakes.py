# ruff: noqa: E501
"""An error of the notebook, explained by rule: its type, its line, and the usual cause among common mistakes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from .wording import MODEL, Steps, Words

Json = dict[str, Any]

_ASKED = re.compile(r"^(?:Explain this error and how to mend it|解释这个错误.*怎样改)", re.MULTILINE)
_ERROR = re.compile(r"^Error: (?P<type>[\w.]+)(?:: (?P<said>.*))?$", re.MULTILINE)
_LINE = re.compile(r"^Line (?P<number>\d+) of the cell: (?P<text>.*)$", re.MULTILINE)
_MISSING = re.compile(
    r"name '(?P<name>\w+)' is not defined"
    r"|has no attribute '(?P<attribute>\w+)'"
    r"|Referenced column \"(?P<column>[^\"]+)\" not found"
    r"|no such column: (?P<sqlite>\S+)"
    r"|Table with name (?P<table>\S+) does not exist"
    r"|no such table: (?P<sqlite_table>\S+)"
)
_MODULES = {"pd": "pandas", "np": "numpy", "plt": "matplotlib.pyplot", "sns": "seaborn", "duckdb": "duckdb"}
_MODULES |= {
    name: name for name in ("os", "re", "json", "math", "datetime", "random", "time", "sys", "pathlib")
}


def wanted(goal: str) -> bool:
    """Whether the goal asks what an error means, and holds it."""
    return bool(_ASKED.search(goal) and _ERROR.search(goal))


def explain(goal: str, names: set[str], say: Words) -> Steps:
    """What went wrong, where, the usual cause, and what to change."""
    error, line = _ERROR.search(goal), _LINE.search(goal)
    assert error is not None
    kind, said = error["type"].split(".")[-1], (error["said"] or "").strip()
    parts = [f"**{kind}**" + (f": `{said[:300]}`" if said else "")]
    if line:
        parts.append(
            say(
                f"It happened in line {line['number']}: `{line['text'].strip()}`",
                f"出错在第 {line['number']} 行：`{line['text'].strip()}`",
            )
        )
    near = ""
    if (name := _missing(kind, said)) and "list_variables" in names:
        listing = yield (
            say("I look for a name that is close to it.", "找找有没有相近的名字。"),
            "list_variables",
            {},
        )
        near = _near(name, listing, kind, say)
    told = _cause(kind, said, say)
    if told:
        parts.append(say("Likely cause: ", "可能的原因：") + told)
    if near:
        parts.append(near)
    if not told and not near:
        parts.append(
            say(
                f"No rule of mine knows this error. A language model (`%agent model {MODEL}`) can read the cell.",
                f"我的规则里没有这个错误；可以用语言模型（`%agent model {MODEL}`）来读这个单元格。",
            )
        )
    return "\n\n".join(parts)


def _missing(kind: str, said: str) -> str:
    """The name that was looked for and not found, or ""."""
    if kind == "KeyError":
        inner = re.search(r"'([^']+)'", said)
        return inner[1] if inner else said
    found = _MISSING.search(said)
    return next((value for value in found.groupdict().values() if value), "") if found else ""


def _near(name: str, listing: Json, kind: str, say: Words) -> str:
    """Variables and columns whose names are close to the one that was not found."""
    if kind == "NameError" and name in _MODULES:
        whole = _MODULES[name]
        code = f"import {whole}" if whole == name else f"import {whole} as {name}"
        return say(
            f"`{name}` is usually a module: run `{code}` first.", f"`{name}` 通常是模块：先运行 `{code}`。"
        )
    known = list(_known(listing))
    folded = {each.casefold(): (each, where) for each, where in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    told = [
        f"`{folded[each][0]}`"
        + (say(f" of {folded[each][1]}", f"（{folded[each][1]}）") if folded[each][1] else "")
        for each in close
    ]
    if not told:
        return ""
    return say(f"Close to `{name}`: {', '.join(told)}.", f"与 `{name}` 相近的有：{'、'.join(told)}。")


def _known(listing: Json) -> Iterator[tuple[str, str]]:
    """(name, table) of each column, and (name, "") of each variable."""
    for variable in listing.get("variables") or []:
        yield str(variable.get("name")), ""
        for column in variable.get("columns") or []:
            if isinstance(column, dict):
                yield str(column.get("name")), str(variable.get("name"))


def _cause(kind: str, said: str, say: Words) -> str:
    """The first rule that fits; "" where none does."""
    for kinds, pattern, english, chinese in _RULES:
        if re.fullmatch(kinds, kind) and re.search(pattern, said, re.IGNORECASE):
            return say(english, chinese)
    return ""


_RULES: tuple[tuple[str, str, str, str], ...] = (
    (
        "KeyError",
        r"not in index|None of \[",
        "several columns are asked for, and some of them are not in the table. Look at `df.columns`; names count spaces and capital letters.",
        "要取的列里有几列不在表中。看看 `df.columns`；空格和大小写都算。",
    ),
    (
        "KeyError",
        "",
        "there is no column, index label or dictionary key of that name. Look at `df.columns` (or the dictionary's `.keys()`); names count spaces and capital letters.",
        "没有这个名字的列、索引或字典键。看看 `df.columns`（或字典的 `.keys()`）；空格和大小写都算。",
    ),
    (
        "NameError|UnboundLocalError",
        "",
        "nothing was bound to that name yet: it is misspelt, or the cell that makes it was not run since the kernel started, or an import is missing.",
        "这个名字还没有绑定：拼写有误、定义它的单元格在内核启动后没有运行过，或者少了 import。",
    ),
    (
        "AttributeError",
        "'NoneType'",
        "the value left of the dot is None. A method that changes in place (`list.sort()`, `df.drop(…, inplace=True)`) returns None: do not assign its result.",
        "点号左边的值是 None。就地修改的方法（`list.sort()`、`df.drop(…, inplace=True)`）返回 None：不要把结果赋值回去。",
    ),
    (
        "AttributeError",
        r"'DataFrame' object has no attribute '(?:append|iteritems|ix|as_matrix|lookup)'",
        "that method was removed from pandas: use `pd.concat([a, b])` for append, `.items()` for iteritems, `.loc` or `.iloc` for ix.",
        "这个方法已从 pandas 移除：append 用 `pd.concat([a, b])`，iteritems 用 `.items()`，ix 用 `.loc` 或 `.iloc`。",
    ),
    (
        "AttributeError",
        r"\.str accessor|\.dt accessor",
        "`.str` works on text and `.dt` on times only; the column holds something else. Convert it first: `.astype(str)` or `pd.to_datetime(…)`.",
        "`.str` 只用于文本，`.dt` 只用于时间；这一列不是。先转换：`.astype(str)` 或 `pd.to_datetime(…)`。",
    ),
    (
        "AttributeError",
        r"'(?:DataFrame|Series)'",
        "a table has no such method or column. A column whose name has a space or equals a method is reached by `df['name']`.",
        "表没有这个方法或列。名字里有空格、或与方法同名的列，要用 `df['name']`。",
    ),
    (
        "AttributeError",
        "",
        "the object has no such attribute: the name is misspelt, or the object is of another type than was thought (`type(x)` tells).",
        "对象没有这个属性：拼写有误，或者对象的类型和想的不同（用 `type(x)` 看）。",
    ),
    (
        "ValueError",
        "truth value of a (?:Series|DataFrame|array)|truth value of an array",
        "`and`, `or`, `not` and `if` need one True or False. Between columns use `&`, `|`, `~` with brackets around each comparison: `df[(df.a > 1) & (df.b < 2)]`.",
        "`and`、`or`、`not`、`if` 只认一个真假值。列之间用 `&`、`|`、`~`，每个比较加括号：`df[(df.a > 1) & (df.b < 2)]`。",
    ),
    (
        "ValueError",
        "trying to merge on",
        "the two key columns are of different types, often text against numbers. Make them equal first, for example `df['id'] = df['id'].astype(str)` on both sides.",
        "两边的键列类型不同，常见的是文本对数字。先统一，例如两边都 `df['id'] = df['id'].astype(str)`。",
    ),
    (
        "ValueError",
        "cannot convert float NaN to integer|non-finite",
        "the column holds missing values, which integers cannot. Fill them (`.fillna(0)`) or use `.astype('Int64')`.",
        "列里有缺失值，整数类型放不下。先 `.fillna(0)`，或用 `.astype('Int64')`。",
    ),
    (
        "ValueError",
        "could not convert string to float|invalid literal for int|Unable to parse string",
        "a text in the column is no number (a unit, a thousands separator, an empty text). `pd.to_numeric(df['x'], errors='coerce')` makes such values missing; look at those rows first.",
        "列里有不是数字的文本（单位、千分位、空串）。`pd.to_numeric(df['x'], errors='coerce')` 会把它们变成缺失值；先看看这些行。",
    ),
    (
        "ValueError",
        "arrays must (?:all )?be (?:of )?(?:the )?same length|Length of values|Length mismatch",
        "what is assigned has another number of rows or columns than the table. Compare `len(…)` of both sides.",
        "赋的值和表的行数或列数不同。比较两边的 `len(…)`。",
    ),
    (
        "ValueError",
        "duplicate entries, cannot reshape",
        "`pivot` needs each pair of row and column once. Use `pivot_table(…, aggfunc='sum')`, or group first.",
        "`pivot` 要求行列组合不重复。用 `pivot_table(…, aggfunc='sum')`，或先分组。",
    ),
    (
        "ValueError",
        "cannot reindex on an axis with duplicate labels",
        "the index has labels that stand twice. `df.reset_index(drop=True)` or `df[~df.index.duplicated()]` first.",
        "索引有重复标签。先 `df.reset_index(drop=True)` 或 `df[~df.index.duplicated()]`。",
    ),
    (
        "ValueError",
        "time data|doesn't match format|unconverted data|Unknown datetime string format",
        "a text is no time in that form. Give the right `format=`, or `pd.to_datetime(…, format='mixed')`; `errors='coerce'` makes the rest missing.",
        "有文本不符合时间格式。给出正确的 `format=`，或 `pd.to_datetime(…, format='mixed')`；`errors='coerce'` 把其余的变成缺失。",
    ),
    (
        "ValueError",
        "not enough values to unpack|too many values to unpack",
        "the left side of the assignment has another number of names than the right side has values.",
        "赋值左边的名字个数与右边的值个数不同。",
    ),
    (
        "IntCastingNaNError",
        "",
        "the column holds missing values, which integers cannot. Fill them (`.fillna(0)`) or use `.astype('Int64')`.",
        "列里有缺失值，整数类型放不下。先 `.fillna(0)`，或用 `.astype('Int64')`。",
    ),
    (
        "TypeError",
        r"agg function failed|Could not convert .* to numeric|can't multiply sequence",
        "a statistic is asked of a column of text. Name the columns of numbers, or `numeric_only=True`.",
        "对文本列求统计量了。指定数字列，或加 `numeric_only=True`。",
    ),
    (
        "TypeError",
        "'NoneType' object is not",
        "a value is None where something else was thought to be. A method that changes in place returns None: do not assign its result.",
        "有个值是 None。就地修改的方法返回 None：不要把结果赋值回去。",
    ),
    (
        "TypeError",
        "unsupported operand|not supported between|can only concatenate|must be str, not",
        "two values of different types are combined, often text and numbers. Convert one: `int(x)`, `str(x)`, `pd.to_numeric(column)`.",
        "把不同类型的值放在一起运算了，常见的是文本和数字。转换其中一个：`int(x)`、`str(x)`、`pd.to_numeric(column)`。",
    ),
    (
        "TypeError",
        "string indices must be integers",
        "a text is indexed like a dictionary or table: the variable holds one text, often because of a loop over a dictionary's or table's names.",
        "把文本当成字典或表来取下标了：变量里是一个文本，常因为循环遍历的是键名或列名。",
    ),
    (
        "TypeError",
        "object is not callable",
        "brackets follow something that is no function: a name of a function was given to a variable, or a column is called like a method.",
        "在不是函数的东西后面用了圆括号：变量与函数同名，或把列当方法调用了。",
    ),
    (
        "TypeError",
        "object is not subscriptable",
        "square brackets follow something that has no items: often a function without its round brackets.",
        "对不能取下标的东西用了方括号：常是函数忘了加圆括号。",
    ),
    (
        "TypeError",
        "positional argument|keyword argument|required",
        "the function takes other arguments than it was given; its help (`name?`) shows them.",
        "给函数的参数不对；用 `name?` 看它的参数。",
    ),
    (
        "IndexError",
        "",
        "a position is asked for that is not there; positions count from 0, and the list or table may be empty (`len(x)`).",
        "取了不存在的位置；位置从 0 数起，列表或表也可能是空的（`len(x)`）。",
    ),
    (
        "IndexingError",
        "",
        "the filter has another index than the table. Make the filter from the same table, or `reset_index(drop=True)` on both.",
        "过滤条件的索引和表不同。用同一个表生成条件，或两边都 `reset_index(drop=True)`。",
    ),
    (
        "ZeroDivisionError",
        "",
        "something is divided by zero. Leave the zeros out first, or say what the result shall be: `x / y if y else None`.",
        "除数是零。先排除零，或说明结果应是什么：`x / y if y else None`。",
    ),
    (
        "ModuleNotFoundError|ImportError",
        "",
        "the package is not installed in this kernel's environment, or has another name there. `%pip install NAME` installs it; then restart the kernel.",
        "这个内核的环境里没有装这个包，或包名不同。`%pip install NAME` 安装后重启内核。",
    ),
    (
        "FileNotFoundError",
        "",
        "there is no such file from where the kernel runs. `import os; os.getcwd()` shows the folder; give the path from there.",
        "从内核所在的文件夹看没有这个文件。`import os; os.getcwd()` 显示文件夹；从那里写路径。",
    ),
    (
        "UnicodeDecodeError",
        "",
        "the file is not UTF-8. Try `encoding='gb18030'` (Chinese) or `encoding='latin-1'`.",
        "文件不是 UTF-8。试试 `encoding='gb18030'`（中文）或 `encoding='latin-1'`。",
    ),
    (
        "EmptyDataError",
        "",
        "the file has no columns: it is empty, or only blank lines are read.",
        "文件里没有列：是空的，或只有空行。",
    ),
    (
        "ParserError",
        "Expected \\d+ fields",
        "a line of the file has more fields than the first. The separator is another one (`sep=';'`), or a text with a comma lacks its quotes; `on_bad_lines='warn'` shows the lines.",
        "文件某一行的字段比第一行多。分隔符可能不同（`sep=';'`），或含逗号的文本缺引号；`on_bad_lines='warn'` 会显示这些行。",
    ),
    (
        "MergeError",
        "",
        "the tables cannot be joined as asked: a key is missing or not unique. Name it by `on=` or `left_on=`, `right_on=`.",
        "表不能这样连接：键缺失或不唯一。用 `on=` 或 `left_on=`、`right_on=` 指定。",
    ),
    (
        "MemoryError",
        "",
        "the result does not fit into memory. Read fewer columns, or let SQL aggregate first (`duckdb.sql(…)`).",
        "结果超出内存。少读几列，或先用 SQL 汇总（`duckdb.sql(…)`）。",
    ),
    (
        "RecursionError",
        "",
        "a function calls itself without end; the case that ends it is missing or never reached.",
        "函数无止境地调用自己；缺少或到不了结束的情形。",
    ),
    (
        "BinderException",
        "GROUP BY",
        "a column is selected that is neither grouped nor aggregated. Add it to GROUP BY, or put `any_value(…)`, `sum(…)` around it.",
        "选出的列既没有分组也没有聚合。加进 GROUP BY，或套上 `any_value(…)`、`sum(…)`。",
    ),
    (
        "BinderException|OperationalError",
        "column",
        "the query names a column that the tables do not have. A name with capital letters or spaces needs double quotes; single quotes are for texts.",
        "查询里的列在表中不存在。带大写或空格的名字用双引号；单引号只用于文本。",
    ),
    (
        "CatalogException|OperationalError",
        "[Tt]able",
        "the query names a table that is not there. In DuckDB a table is a variable of the notebook or a file in single quotes.",
        "查询里的表不存在。在 DuckDB 里，表是笔记本的变量，或单引号里的文件。",
    ),
    (
        "ConversionException",
        "",
        "a text of the column cannot become the asked type. `try_cast(x AS DOUBLE)` makes such values missing.",
        "列里有文本转不成要的类型。`try_cast(x AS DOUBLE)` 会把它们变成缺失值。",
    ),
    (
        "ParserException|ProgrammingError",
        "",
        "the SQL cannot be read near the place that the message shows: a comma too many, a missing bracket, or a word that needs double quotes.",
        "SQL 在提示的位置附近读不懂：多了逗号、少了括号，或某个词要加双引号。",
    ),
    (
        "SyntaxError",
        "never closed|unmatched|unterminated|incomplete input|unexpected EOF",
        "a bracket or quote is opened and not closed (or the other way round), often in the line above.",
        "括号或引号没有配对，常常在上一行。",
    ),
    (
        "SyntaxError",
        "Maybe you meant '==' |cannot assign",
        "`=` assigns; to compare, write `==`.",
        "`=` 是赋值；比较要写 `==`。",
    ),
    (
        "SyntaxError",
        "invalid (?:character|non-printable)",
        "the line holds a character that Python does not know, such as a Chinese comma or bracket. Type it anew as , ( ) \" '.",
        "这一行有 Python 不认识的字符，例如中文逗号或括号。改成英文的 , ( ) \" '。",
    ),
    (
        "SyntaxError",
        "",
        "the line cannot be read as Python: often a missing colon, comma or bracket in it or in the line above.",
        "这一行不是正确的 Python：常是本行或上一行少了冒号、逗号或括号。",
    ),
    (
        "IndentationError|TabError",
        "",
        "lines of one block must begin at the same column, with spaces only.",
        "同一块的各行要从同一列开始，只用空格。",
    ),
    (
        "PermissionError",
        "",
        "this user may not read or write that file, or it is open in another program.",
        "当前用户不能读写这个文件，或它在别的程序里打开着。",
    ),
    (
        "AssertionError",
        "",
        "a condition that was stated to hold does not. Print both sides of it.",
        "断言的条件不成立。把两边都打印出来看。",
    ),
    (
        "TimeoutError|ConnectionError|URLError|HTTPError",
        "",
        "the other side did not answer. Try again, and look at the address and the network.",
        "对方没有应答。再试一次，并检查地址和网络。",
    ),
)
