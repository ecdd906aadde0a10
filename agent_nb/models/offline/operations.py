# ruff: noqa: E501
"""What a goal wants done: statistic, order, change, chart and the like, read off its words."""

from __future__ import annotations

import dataclasses
import re

from .text import Text, english

_N = r"\d{1,3}|two|three|four|five|six|seven|eight|nine|ten"
_WORD_N = {
    w: i for i, w in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
}
_ZH_N = {c: i for i, c in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_HIGH = "most|highest|largest|biggest|greatest|longest|top|strongest|heaviest|farthest|oldest"
_LOW = "least|fewest|lowest|smallest|shortest|bottom|weakest|lightest|youngest"

_STATS = [
    ("std", english("standard deviations?|std(?:\\.|dev)?|stdev") + "|标准差"),
    ("median", english("median") + "|中位数|中值"),
    ("mean", english("averages?|mean|avg|on average") + "|平均值?|均值|平均每[个家]?"),
    ("max", english("max|maximum") + "|最大值"),
    ("min", english("min|minimum") + "|最小值"),
    (
        "distinct",
        english(r"(?:how many|number of|count of|count the)? ?(?:distinct|unique|different)")
        + "|多少[种个家]?不同的?|不同的?|去重",
    ),
    (
        "count",
        english("how many|number of|count of|counts?(?: the)?|no\\. of")
        + "|head ?count|有?多少[个条笔架班名人次家位单]|有?几[个条笔家次]|人次|次数|总数量?(?=是)|计数|个数|笔数|条数|班次",
    ),
    (
        "total",
        english("in total|totals?|sum of|sums?|altogether|summed")
        + "|总计|总和|合计|总共|总额|总的?(?!部|裁|监|是)",
    ),
    (
        "share",
        english("shares?|percentages?|percent|proportions?|fractions?")
        + r"|(?<![\d.])%|占比?|比例|百分比|份额|占了?多少|百分之几",
    ),
]

_CHANGES = [
    (
        "up",
        english(
            "rose|risen?|rises?|rising|increas(?:e|ed|es|ing)|grew|grown?|grows?|growth|growing|gain(?:ed|s)?|climb(?:ed)?|went up|going up|goes? up|worsened|jumped"
        )
        + "|上升|增长|增加|上涨|涨|提高|升高|增幅|涨幅",
    ),
    (
        "down",
        english(
            "fell|fall(?:s|en)?|dropp?(?:ed|s)?|decreas(?:e|ed|es)|declin(?:e|ed|es)|shr[aiu]nk|went down|going down|goes? down|reduced|reduction"
        )
        + "|下降|减少|下跌|跌|降低|下滑|降幅|跌幅",
    ),
    (
        "any",
        english(
            r"compar(?:e|ed|ing|ison)(?: (?:to|with))?|versus|vs\.?|against|chang(?:e|ed|es)|differ(?:s|ed|ence|ences)?|develop(?:ed|ment)?|moved(?: the)?"
        )
        + "|变化|变动|对比|比较|比(?=\x01)|相比|相差|差异|差多少|波动",
    ),
]


@dataclasses.dataclass
class Wanted:
    """What a goal asks for. Empty fields were not said."""

    stats: list[tuple[str, int, int]] = dataclasses.field(default_factory=list)
    direction: str = ""
    extreme: str = ""
    n: int = 0
    which: bool = False
    change: str = ""
    relative: bool = False
    why: bool = False
    against: str = ""
    grain: str = ""
    trend: bool = False
    missing: bool = False
    outliers: bool = False
    distribution: bool = False
    correlation: bool = False
    chart: str = ""
    listing: bool = False
    describe: bool = False
    range: bool = False
    over_average: bool = False
    quality: str = ""
    versus: bool = False

    @property
    def checks(self) -> bool:
        """Whether the columns themselves are to be looked at, not a statistic."""
        return self.missing or self.outliers or self.correlation or self.distribution

    def says(self, stat: str) -> bool:
        """Whether the statistic is among those named."""
        return any(s == stat for s, _, _ in self.stats)

    @property
    def stat(self) -> str:
        """The statistic, when exactly one was named."""
        names = list(dict.fromkeys(s for s, _, _ in self.stats))
        return names[0] if len(names) == 1 else ""


def read(text: Text) -> Wanted:
    """Read the operations off the text, marking their words as understood."""
    w = Wanted()
    w.over_average = bool(
        text.find(
            english(r"(?:above|below|over|under|than|beyond)(?: the)?(?: \w+)? (?:average|mean|median)")
            + "|[高低大小多少]于平均|超过平均"
        )
    )
    _charts(text, w)
    _special(text, w)
    _changes(text, w)
    _order(text, w)
    for match in text.take_all(
        english(r"(?:the )?(?P<n>\d{1,2})(?:st|nd|rd|th)?[ -]percentile|p(?P<p>\d{2})")
        + "|第?(?P<z>\\d{1,2})(?:百?分位数?|百分位)"
    ):
        w.stats.append((f"p{int(match['n'] or match['p'] or match['z']):02}", *match.span()))
    for name, pattern in _STATS:
        w.stats += [(name, *m.span()) for m in text.take_all(pattern)]
    w.stats.sort(key=lambda s: s[1])
    ends = [s for s, _, _ in w.stats if s in ("max", "min")]
    if ends and w.which and not w.direction:
        w.stats = [s for s in w.stats if s[0] not in ("max", "min")]
        w.direction, w.n, w.extreme = (
            ("desc" if ends[0] == "max" else "asc"),
            1,
            "highest" if ends[0] == "max" else "lowest",
        )
    if w.change:
        w.relative = w.relative or any(s == "share" for s, _, _ in w.stats)
        part = re.search(english("shares?|proportions?|fractions?") + "|占比|比例|份额", text.low)
        w.stats = [s for s in w.stats if s[0] != "share" or part]
    if any(s == "distinct" for s, _, _ in w.stats):
        w.stats = [s for s in w.stats if s[0] != "count"]
    return w


def _charts(text: Text, w: Wanted) -> None:
    if text.take(
        english(
            r"(?:no|without|don't (?:draw|show|plot)|do not (?:draw|plot)|skip)(?: an?y?| the)? (?:charts?|plots?|graphs?)"
        )
        + "|不要画?图表?|不用画图|不需要图表?|别画图"
    ):
        w.chart = "none"
        return
    kinds = [
        ("barh", "horizontal bars?"),
        ("hist", "histogram|直方图"),
        ("line", "line|折线"),
        ("scatter", "scatter|散点"),
        ("bar", "bars?|columns?|柱状|条形|柱形"),
        ("pie", "pie|饼"),
    ]
    noun = "chart|plot|graph|diagram"
    for kind, words in kinds:
        en = "|".join(x for x in words.split("|") if x.isascii())
        zh = "|".join(x for x in words.split("|") if not x.isascii())
        pattern = english(
            rf"(?:(?:draw|show|make|plot|create|as|with|in)\s+)*(?:an? |the )?(?:{en})[ -]?(?:{noun})s?(?: of)?"
            + ("|histograms?" if kind == "hist" else "")
        )
        if text.take(pattern) or (zh and text.take(rf"(?:请?画|用|绘制)?(?:一?[张个]|出)?(?:{zh})图?")):
            w.chart = kind
            text.take_all(english("draw|plot|visuali[sz]e") + "|画[出图]?|绘制?出?")
            return
    if text.take(
        english(
            r"(?:(?:please|and|with|draw|plot|show|make|create|as|in) )*(?:an? |the |me )*(?:charts?|graphs?|plots?|diagrams?)(?: of)?|draw|visuali[sz]e|plot"
        )
        + "|(?:并|请|再)?(?:画|绘制?)(?:一?[张个]|出)?(?:图表|图)?|图表|作图"
    ):
        w.chart = "auto"


def _special(text: Text, w: Wanted) -> None:
    def take(pattern: str) -> bool:
        return bool(text.take_all(pattern))

    w.missing = take(
        english(
            "missing(?: values?| data)?|nulls?|null values?|nans?|empty(?: values| cells)?|incomplete|blanks?"
        )
        + "|(?:是否|有没有|有无|存在|是不是)*(?:缺失值?|空值|缺少|为空)"
    )
    w.outliers = take(
        english("outliers?|anomal(?:y|ies|ous)|extreme values|extremes")
        + "|(?:是否|有没有|有无|存在|是不是)*(?:异常值?|离群[值点]?|极端值)"
    )
    w.correlation = take(
        english(
            r"correlat(?:ion|ions|e|es|ed)|(?:relation|relationship|association)(?: between)?|related(?: to)?"
        )
        + "|相关(?:性|系数)?|关系|关联"
    )
    w.distribution = take(english("distribution|distributed|histogram|spread") + "|分布")
    w.why = take(
        english(
            r"why|what (?:caused|drove|explains|is driving)|reasons?(?: for| behind)?|explain|(?:key|main|biggest) drivers?|drivers? (?:of|behind|for)|because of what|drill down"
        )
        + "|为什么|为何|原因|导致|下钻|怎么回事"
    )
    yoy = take(english(r"year[- ]on[- ]year|yoy|y/y|year[- ]over[- ]year") + "|同比")
    mom = take(english(r"month[- ]on[- ]month|mom|m/m|month[- ]over[- ]month") + "|环比")
    w.against = "year" if yoy else "unit" if mom else ""
    w.trend = take(
        english(r"trends?|over time|evolution|time series|develop over time") + "|趋势|走势|随时间"
    )
    for grain, pattern in (
        (
            "month",
            english(
                "by month|monthly|per month|each month|every month|month by month|for each month|(?:in )?which months?|what month|by months"
            )
            + "|每个?月|按月份?|逐月|各个?月份?|月度|哪个?月份?|哪几个月",
        ),
        (
            "quarter",
            english("by quarter|quarterly|per quarter|each quarter|every quarter|(?:in )?which quarters?")
            + "|每个?季度|按季度?|各个?季度|逐季|哪个?季度",
        ),
        (
            "year",
            english("by year|yearly|annually|per year|each year|every year|(?:in )?which years?")
            + "|每年|按年度?|各年|逐年|哪一?年",
        ),
        (
            "day",
            english("by day|daily|per day|each day|every day|by date|(?:on )?which (?:days?|dates?)")
            + "|每[天日]|按[天日]期?|逐日|哪一?天",
        ),
        ("week", english("by week|weekly|per week|each week") + "|每周|按周"),
    ):
        if take(pattern):
            w.grain = w.grain or grain
    w.listing = take(
        english(
            r"(?:what|which|list(?: all| the)?|show(?: me)?(?: all| the)?) (?:tables|data ?sets|data ?frames|variables|data)(?: (?:do (?:i|we|you) have|are there|is there|are available|exist))?"
        )
        + "|有?哪些(?:表格?|数据集?|变量)|有什么(?:表|数据)"
    )
    w.describe = take(
        english(r"describe|what columns|which columns|what fields|schema of|(?:structure|overview) of")
        + "|描述|有哪些列|哪些字段|概览|结构"
    )
    w.range = take(
        english("what (?:period|time range|dates?) (?:does|do|is|are)|date range|time range|time span")
        + "|时间范围|日期范围"
    )


def _changes(text: Text, w: Wanted) -> None:
    for name, pattern in _CHANGES:
        matches = text.take_all(pattern)
        if matches and (not w.change or w.change == "any"):
            w.change = name
    if w.change:
        if text.take(
            english(
                r"in relative terms|relatively|in percent|by percent|percentage[- ]?wise|in percentage terms|percent(?:age)?|rate of|%"
            )
            + "|相对|百分比|幅度|增长率|增速|%"
        ):
            w.relative = True
        if text.take(english("fastest|quickest") + "|最快"):
            w.relative, w.direction, w.n = True, "desc", w.n or 1
        text.take_all(english("absolute(?:ly)?|in absolute terms") + "|绝对")


def _order(text: Text, w: Wanted) -> None:
    for pattern, direction in (
        (rf"(?:top|first|best|largest|highest|biggest|greatest|longest) (?P<n>{_N})", "desc"),
        (rf"(?:bottom|last|lowest|smallest|fewest|shortest) (?P<n>{_N})", "asc"),
        (
            rf"(?P<n>{_N})(?= (?:\w+ ){{0,3}}(?:with|have|has|had|by|are|were|that)?\s?(?:the )?(?:{_HIGH}))",
            "desc",
        ),
        (
            rf"(?P<n>{_N})(?= (?:\w+ ){{0,3}}(?:with|have|has|had|by|are|were|that)?\s?(?:the )?(?:{_LOW}))",
            "asc",
        ),
    ):
        if match := text.take(english(pattern)):
            w.n, w.direction = _count(match["n"]), direction
    if match := text.take(
        r"(?P<d>排?名?前|倒数第?|最后|后)\s*(?P<n>\d{1,3}|[一二两三四五六七八九十])\s*[名个大家位条种]?(?!月|季|年|天|日)"
    ):
        w.n, w.direction = _count(match["n"]), "desc" if "前" in match["d"] else "asc"
    if match := text.take(
        r"(?<=最)?[多高大少低小](?:的)?(?P<n>[两三四五六七八九十]|\d{1,3})[名个大家位条种]"
    ):
        w.n = _count(match["n"])
        w.direction = "asc" if match.group()[0] in "少低小" else "desc"
        text.take_all("最")
    for match in text.take_all(r"哪(?P<n>[两三四五六七八九十]|\d{1,3})[个家位种名条]"):
        w.which, w.n = True, _count(match["n"])
    high = text.take_all(english(_HIGH) + "|最(?:多|高|大(?!值)|长|好卖|贵|畅销|重|远)|排名")
    low = text.take_all(english(_LOW) + "|最(?:少|低|小(?!值)|短|便宜|轻|近)")
    if high or low:
        w.direction = w.direction if w.n and w.direction else "desc" if high else "asc"
        w.extreme = (high or low)[0].group()
        w.n = w.n or 1
    if not (high or low):
        if (best := text.take(english("best|worst") + "|最好|最佳|最差|最糟")) is not None:
            w.quality = "worst" if best.group() in ("worst", "最差", "最糟") else "best"
            w.n = w.n or 1
        if text.take(
            english("rank(?:ed|ing)?|sort(?:ed)?(?: by)?|in order|descending")
            + "|排序|从高到低|从大到小|降序"
        ):
            w.direction = w.direction or "desc"
        if text.take(english("ascending") + "|从低到高|从小到大|升序"):
            w.direction = "asc"
    if high and low:
        w.quality = "both"
    if not w.direction and not w.quality and re.search(english("which|who") + "|哪|谁", text.rest):
        if text.take(english("more|higher|larger|bigger|greater") + "|更(?:多|高|大)"):
            w.direction, w.n, w.which, w.extreme = "desc", 1, True, "most"
        elif text.take(english("less|lower|fewer|smaller") + "|更(?:少|低|小)"):
            w.direction, w.n, w.which, w.extreme = "asc", 1, True, "least"
    if not w.direction and re.match(r"\s*(?:did|does|do|is|are|was|were|has|have|had)\b", text.low):
        match = text.take(
            english(r"(?P<how>more|higher|larger|greater|less|lower|fewer|smaller)(?=\b.*\bthan\b)")
        )
        if match and text.take(english("than")):
            w.versus, w.n, w.extreme = True, 1, "most"
            w.direction = "desc" if match["how"] in ("more", "higher", "larger", "greater") else "asc"
    text.take_all(english("(?:broken|break|split|breakdown) ?(?:down|up)?(?= by| per)"))
    w.which = w.which or bool(re.search(english("which|who|what|whose") + "|哪|谁|什么", text.rest))


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _WORD_N.get(text) or _ZH_N.get(text) or 1
