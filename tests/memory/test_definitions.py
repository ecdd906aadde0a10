"""Questions in English and Chinese against a store of a few memories: what must come back, and what nothing may."""

import pytest

from agent_nb.memory import Memory

NOTES = {
    "late": "a flight counts as delayed when its departure delay is over 15 minutes",
    "refund": "the refund window is 30 days after delivery",
    "revenue": "net revenue means gross revenue minus refunds and discounts",
    "active": "an active customer is one with at least one order in the last 90 days",
    "currency": "always report amounts in euro",
    "manager": "the regional manager of the north is Ana Keller",
    "churn": "churn rate = customers lost / customers at the start of the month",
    "decimals": "I prefer percentages with one decimal",
    "fiscal": "our fiscal year starts in April",
    "cancelled": "cancelled flights are flights without a departure time",
    "晚点": "起飞延误超过15分钟的航班算作晚点",
    "净收入": "净收入是指总收入减去退款和折扣",
    "活跃": "活跃用户指最近90天内至少下过一单的用户",
    "退货": "退货期限为签收后30天",
    "负责人": "华东区的负责人是王小明",
    "客单价": "客单价＝销售额÷订单数",
    "金额": "金额一律用人民币显示",
    "口味": "我喜欢喝美式咖啡",
}
FOUND = [
    ("which flights were delayed in July?", "late"),
    ("how is a delayed flight defined?", "late"),
    ("share of delayed departures per airline", "late"),
    ("how long is the refund window?", "refund"),
    ("what is our refund window after delivery?", "refund"),
    ("compute net revenue per month", "revenue"),
    ("what does net revenue mean?", "revenue"),
    ("how many active customers do we have?", "active"),
    ("who is an active customer?", "active"),
    ("in which currency do I report amounts?", "currency"),
    ("who is the regional manager of the north?", "manager"),
    ("what does Ana Keller do?", "manager"),
    ("churn rate by month", "churn"),
    ("how many decimals do I prefer for percentages?", "decimals"),
    ("when does the fiscal year start?", "fiscal"),
    ("number of cancelled flights", "cancelled"),
    ("七月有多少晚点的航班？", "晚点"),
    ("晚点是怎么定义的？", "晚点"),
    ("每个月的净收入是多少？", "净收入"),
    ("净收入怎么算？", "净收入"),
    ("活跃用户有多少？", "活跃"),
    ("退货期限是多久？", "退货"),
    ("华东区的负责人是谁？", "负责人"),
    ("王小明负责哪个区？", "负责人"),
    ("按城市统计客单价", "客单价"),
    ("金额用什么显示？", "金额"),
    ("我喜欢喝什么咖啡？", "口味"),
]
NOTHING = [
    "what is the capital of France?",
    "translate hello into Spanish",
    "who wrote Hamlet?",
    "plot the temperature in Oslo",
    "sort a list in Python",
    "what is the boiling point of water?",
    "write a haiku about snow",
    "thanks!",
    "hello",
    "今天天气怎么样？",
    "法国的首都在哪里？",
    "写一首关于雪的诗",
    "谢谢",
    "你好",
    "水的沸点是多少度？",
    "推荐一部电影",
]


@pytest.fixture(scope="module", params=[None, "auto"])
def memory(request):
    with Memory(":memory:", embedder=request.param) as opened:
        records = opened.add_many({"text": text} for text in NOTES.values())
        opened.ids = dict(zip((record.id for record in records), NOTES, strict=True))
        yield opened


@pytest.mark.parametrize(("question", "name"), FOUND)
def test_the_definition_comes_back_among_the_first_three(memory, question, name):
    found = [memory.ids[hit.record.id] for hit in memory.recall(question, k=3)]
    assert name in found


@pytest.mark.parametrize("question", NOTHING)
def test_an_unrelated_question_recalls_nothing_and_says_why(memory, question):
    recall = memory.recall(question)
    assert [hit.record.text for hit in recall] == []
    assert all(gate["why"] for gate in recall.gates)


def test_a_small_store_recalls_as_a_large_one_does():
    for question, name in FOUND:
        with Memory(":memory:", embedder=None) as one:
            one.add(NOTES[name])
            assert [hit.record.text for hit in one.recall(question)] == [NOTES[name]]
    for question in NOTHING:
        with Memory(":memory:", embedder=None) as one:
            one.add(NOTES["late"])
            one.add(NOTES["晚点"])
            assert list(one.recall(question)) == []
