"""Gate 1: dates against a given moment, pronouns against the session, synonyms of the user; each shown in the gate."""

import datetime
import string
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.errors import SettingError
from agent_nb.memory import Memory, query
from agent_nb.memory.dates import spans
from agent_nb.memory.numerals import as_digits

ZONE = zoneinfo.ZoneInfo("Asia/Shanghai")
NOW = datetime.datetime(2026, 12, 1, 10, tzinfo=ZONE)  # a Tuesday
DATES = [
    ("today", "2026-12-01", "2026-12-01"),
    ("yesterday", "2026-11-30", "2026-11-30"),
    ("the day before yesterday", "2026-11-29", "2026-11-29"),
    ("last week", "2026-11-23", "2026-11-29"),
    ("last month", "2026-11-01", "2026-11-30"),
    ("last year", "2025-01-01", "2025-12-31"),
    ("two weeks ago", "2026-11-16", "2026-11-22"),
    ("3 days ago", "2026-11-28", "2026-11-28"),
    ("a month ago", "2026-11-01", "2026-11-30"),
    ("the last three days", "2026-11-29", "2026-12-01"),
    ("last Friday", "2026-11-27", "2026-11-27"),
    ("on Tuesday", "2026-12-01", "2026-12-01"),
    ("next Friday", "2026-12-04", "2026-12-04"),
    ("in March", "2026-03-01", "2026-03-31"),
    ("in May", "2026-05-01", "2026-05-31"),
    ("last December", "2025-12-01", "2025-12-31"),
    ("in December", "2026-12-01", "2026-12-31"),
    ("March 2024", "2024-03-01", "2024-03-31"),
    ("8 May 2023", "2023-05-08", "2023-05-08"),
    ("May 7th, 2023", "2023-05-07", "2023-05-07"),
    ("the 5th of January", "2026-01-05", "2026-01-05"),
    ("31 December", "2025-12-31", "2025-12-31"),
    ("2024-05", "2024-05-01", "2024-05-31"),
    ("2024-05-03", "2024-05-03", "2024-05-03"),
    ("in 2024", "2024-01-01", "2024-12-31"),
    ("Q3", "2026-07-01", "2026-09-30"),
    ("last Q4", "2025-10-01", "2025-12-31"),
    ("Q2 2025", "2025-04-01", "2025-06-30"),
    ("the third quarter of 2025", "2025-07-01", "2025-09-30"),
    ("since March", "2026-03-01", "2026-12-01"),
    ("昨天", "2026-11-30", "2026-11-30"),
    ("前天", "2026-11-29", "2026-11-29"),
    ("上周", "2026-11-23", "2026-11-29"),
    ("上上周", "2026-11-16", "2026-11-22"),
    ("上周五", "2026-11-27", "2026-11-27"),
    ("本周五", "2026-12-04", "2026-12-04"),
    ("周三", "2026-11-25", "2026-11-25"),
    ("上个月", "2026-11-01", "2026-11-30"),
    ("去年", "2025-01-01", "2025-12-31"),
    ("去年三月", "2025-03-01", "2025-03-31"),
    ("三月", "2026-03-01", "2026-03-31"),
    ("十二月", "2026-12-01", "2026-12-31"),
    ("5月20日", "2026-05-20", "2026-05-20"),
    ("2024年5月20号", "2024-05-20", "2024-05-20"),
    ("第三季度", "2026-07-01", "2026-09-30"),
    ("2024年第三季度", "2024-07-01", "2024-09-30"),
    ("上个季度", "2026-07-01", "2026-09-30"),
    ("两周前", "2026-11-16", "2026-11-22"),
    ("三个月前", "2026-09-01", "2026-09-30"),
    ("十天前", "2026-11-21", "2026-11-21"),
    ("过去三天", "2026-11-29", "2026-12-01"),
]


@pytest.mark.parametrize(("words", "first", "last"), DATES)
@pytest.mark.parametrize("frame", ["{}", "what did we sell {}?", "{}我们卖了什么？"])
def test_a_date_is_a_half_open_range_in_the_askers_zone(words, first, last, frame):
    found = spans(as_digits(frame.format(words)), NOW)
    assert [(str(span.first), str(span.last)) for span in found] == [(first, last)]
    start = datetime.datetime.fromisoformat(first).replace(tzinfo=ZONE)
    end = datetime.datetime.fromisoformat(last).replace(tzinfo=ZONE) + datetime.timedelta(days=1)
    assert (found[0].start, found[0].end) == (start, end)
    assert found[0].start.tzinfo is datetime.UTC
    assert found[0].holds(start)
    assert not found[0].holds(end)


@pytest.mark.parametrize(
    "text",
    [
        "not last month",
        "not in March",
        "except in 2024",
        "maybe last week",
        "other than yesterday",
        "除了上个月",
        "不是去年",
        "可能上周",
        "31 June",
        "2月30日",
        "the march of time",
        "we may go",
        "每周五的例会",
        "version 2.1.3",
        "order 20240",
        "sales by month",
        "三明治",
    ],
)
def test_what_is_negated_uncertain_or_no_date_names_no_range(text):
    assert spans(as_digits(text), NOW) == []


@given(st.text(string.printable + "年月日周季上个下前后今昨一二三四五六七八九十", max_size=60))
def test_any_text_is_read_and_ranges_are_never_empty(text):
    for span in query.read(text, NOW, [("a", "b")], [text, "what is it?"]).dates:
        assert span.start < span.end


@pytest.mark.parametrize(
    ("question", "context", "meant"),
    [
        ("what is its threshold?", ["what is the churn rate?"], "churn rate"),
        ("what is it in Q3?", ["How is gross margin defined?"], "gross margin"),
        ("how do they work?", ["tell me about loyalty points"], "loyalty points"),
        ("what does she like?", ["Ana Keller is our manager"], "Ana Keller"),
        ("what is its threshold?", ["what is the churn rate?", "thanks"], "churn rate"),
        ("他的电话是多少？", ["华东区的负责人是王小明"], "王小明"),
        ("它怎么算？", ["净收入是什么？"], "净收入"),
        ("它的阈值是多少？", ["流失率怎么算？"], "流失率"),
        ("其定义是什么？", ["客单价呢？"], "客单价"),
        # Ambiguous, named in the question itself, about nothing, or never said: not resolved.
        ("how is it computed?", ["compare churn rate and net revenue"], None),
        ("what does she like?", ["Ana and Maria came"], None),
        ("does Ana like her job?", ["Maria is here"], None),
        ("is the churn rate above its threshold?", ["what is net revenue?"], None),
        ("is it raining?", ["what is the churn rate?"], None),
        ("其他指标有哪些？", ["客单价呢？"], None),
        ("what is its threshold?", [], None),
        ("what is its threshold?", ["hello", "thanks!"], None),
        ("它怎么算？", ["净收入和毛利率是什么？"], None),
    ],
)
def test_a_pronoun_stands_for_the_last_thing_named_unless_that_is_not_sure(question, context, meant):
    read = query.read(question, NOW, (), context)
    assert [name for _, name in read.resolved] == ([meant] if meant else [])
    if meant:
        assert f"→ {meant}" in read.gate(0)["why"]


@pytest.fixture(params=[":memory:", "m.pkl"])
def memory(request, tmp_path):
    where = request.param if request.param == ":memory:" else tmp_path / request.param
    with Memory(where, embedder=None) as opened:
        yield opened


def test_a_recall_with_a_pronoun_finds_what_the_session_spoke_of(memory):
    memory.add("the churn rate has a threshold of 4 percent")
    memory.add("the bounce rate has a threshold of 30 percent")
    recall = memory.recall("what is its threshold?", context=["what is the churn rate?"])
    assert "churn" in recall.hits[0].record.text
    assert recall.gates[0]["resolved"] == [["its", "churn rate"]]


SAYS = {
    "march": ("we stopped the coupons", "decision", "2026-03-10"),
    "april": ("the brand is named Greenfold", "decision", "2026-04-10"),
    "may": ("zebra crossing painted", "episode", "2026-05-20"),
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what did we decide in March?", ["march"]),
        ("what happened on 20 May?", ["may"]),
        ("三月份决定了什么？", ["march"]),
        ("5月20日发生了什么？", ["may"]),
        ("上个月我们聊了什么？", ["may"]),
        ("what did we decide in January?", []),
    ],
)
def test_a_question_that_only_names_a_time_finds_what_happened_then(memory, question, names):
    ids = {name: memory.add(t, kind, created=day).id for name, (t, kind, day) in SAYS.items()}
    now = datetime.datetime(2026, 6, 15, tzinfo=ZONE)
    assert [hit.record.id for hit in memory.recall(question, now=now)] == [ids[name] for name in names]


def test_the_askers_zone_decides_what_yesterday_was(memory):
    memory.add("zebra came", "episode", created="2026-05-31T17:30:00+00:00")  # June 1st in Shanghai
    asked = {
        zone: memory.recall("what happened yesterday?", now=datetime.datetime(2026, 6, 2, 9, tzinfo=zone))
        for zone in (ZONE, zoneinfo.ZoneInfo("America/New_York"))
    }
    assert [len(recall.hits) for recall in asked.values()] == [1, 0]


def test_synonyms_find_each_other_in_both_directions_and_over_several_steps(memory):
    memory.add("成交额按支付时间统计")
    memory.add("zebra crossing", "episode")
    assert list(memory.recall("how is GMV counted?")) == []
    memory.add_synonym("GMV", "成交额")
    memory.add_synonym("gross merchandise volume", "GMV")
    for question in ("how is GMV counted?", "gross merchandise volume", "ＧＭＶ怎么统计？"):
        recall = memory.recall(question)
        assert [hit.record.text for hit in recall] == ["成交额按支付时间统计"], question
    assert "GMV = 成交额" in memory.recall("GMV?").gates[0]["why"]
    assert memory.synonyms() == [("GMV", "成交额"), ("gross merchandise volume", "GMV")]
    assert memory.remove_synonym("GMV", "成交额") == 1
    assert list(memory.recall("GMV?")) == []


def test_the_words_that_were_asked_for_weigh_more_than_their_synonyms(memory):
    memory.add_synonym("revenue", "turnover")
    memory.add("turnover of the north", "episode")
    memory.add("revenue of the north", "episode")
    assert [hit.record.text.split()[0] for hit in memory.recall("revenue")] == ["revenue", "turnover"]


def test_synonyms_are_each_users_own_and_a_pair_that_says_nothing_is_refused(tmp_path):
    with Memory(tmp_path / "m.db", "ana", None) as ana, Memory(tmp_path / "m.db", "bo", None) as bo:
        ana.add_synonym("GMV", "turnover")
        bo.add("turnover is counted daily")
        assert bo.synonyms() == []
        assert list(bo.recall("GMV?")) == []
        for term, means in (("GMV", " "), ("", "x"), ("gmv", "ＧＭＶ"), ("the", "turnover")):
            with pytest.raises(SettingError):
                ana.add_synonym(term, means)
        ana.add_synonym("GMV", "turnover")
        assert len(ana.synonyms()) == 1
