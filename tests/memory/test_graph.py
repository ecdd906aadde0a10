"""What a user dislikes or must not have is recalled when something of its kind is asked for, and never else."""

import pytest

from agent_nb.memory import Memory

COFFEE = {"en": "I don't like coffee", "zh": "我不喜欢喝咖啡"}
PEANUTS = {"en": "I am allergic to peanuts", "zh": "我对花生过敏"}
WAKE = ["something to wake me up", "I need a pick-me-up, any ideas?", "给我推荐点提神的", "好困，来点什么？"]
THAI = [
    "suggest a Thai dish",
    "Which Thai restaurant should I try tonight?",
    "推荐泰国菜",
    "今晚想吃泰餐，推荐一家",
]
UNRELATED = {
    "en": """Which airline's delay rose most? | What is the refund window? | Who is the regional manager? | Total sales
    by month | How many rows does the orders table have? | Recommend a book about statistics | Suggest a name for the
    project | What should I wear tomorrow? | Plan my week | Where is the office? | What time is the meeting? | Can you
    make a chart of the delays? | Let's plan the migration | Which database should we choose? | How do I read a CSV?
    | What is a late flight? | Is gate 3 open today? | Suggest a better title | Who wrote this report? | Order the
    rows by date | Something is wrong with the index | I want the median | What did we decide in May? | Give me the
    top five carriers | How many coffees did we sell in June? | Average revenue per restaurant | Plot the price of
    peanuts by month | Which supplier delivers the fish? | Should I use Java or Python? | Have you seen the log? | Is
    the server awake? | Serve the model on port 80 | Bake the weights into the image | What is the deadline? | Try the
    other join | Can we get the data by Friday? | The forecast for Q3 | What is the capital of France? | Do I need a
    visa? | Book a room for the workshop | Which hotel should I book? | How far is Lyon? | Translate this sentence |
    Fix the unit test | What's the weather today? | Could you explain the outlier? | Make the table wider | Which
    column holds the year? | Pick a seed | How long is the trip?""",
    "zh": """哪家航空公司的延误最多？ | 退货期限是多久？ | 负责人是谁？ | 按月统计销售额 | 订单表有多少行？ | 推荐一本统计学的书 |
    给项目起个名字 | 明天穿什么？ | 安排一下本周的计划 | 办公室在哪里？ | 会议几点开始？ | 帮我做一张延误的图 | 准备迁移 | 选哪个数据库？ |
    怎么读取CSV？ | 什么是晚点航班？ | 今天三号门开吗？ | 建议一个更好的标题 | 这份报告是谁写的？ | 按日期排序 | 索引出了问题 | 我要中位数 |
    五月份我们决定了什么？ | 给我前五名 | 六月卖了多少杯咖啡？ | 每家餐厅的平均营收 | 花生价格的趋势图 | 鱼的供应商是哪家？ | 用Java还是Python？ |
    看过日志吗？ | 服务器醒着吗？ | 推荐酒店 | 截止日期是哪天？ | 换一种连接方式 | 周五能拿到数据吗？ | 第三季度的预测 | 法国的首都是哪里？ |
    需要签证吗？ | 订一间会议室 | 里昂有多远？ | 翻译这句话 | 修一下单元测试 | 今天天气怎么样？ | 解释一下这个异常值 | 把表格加宽 |
    哪一列是年份？ | 选一个随机种子 | 行程有多长？ | 上个月谁请假了？ | 给我看看昨天的结果""",
}


@pytest.fixture
def memory():
    with Memory(":memory:", embedder=None) as opened:
        opened.add_many({"text": f"The limit of gate {n} is {n}"} for n in range(20))
        yield opened


def recalled(memory, question):
    return [hit.record.text for hit in memory.recall(question)]


@pytest.mark.parametrize("said", COFFEE.values())
@pytest.mark.parametrize("question", WAKE)
def test_the_dislike_of_coffee_is_recalled_where_something_like_it_is_asked_for(memory, said, question):
    memory.add(said)
    recall = memory.recall(question)
    assert said in [hit.record.text for hit in recall]
    (hit,) = (hit for hit in recall if hit.record.text == said)
    assert "dislikes" in hit.reason
    assert "stimulant drink" in hit.reason
    assert "dislikes" in recall.gates[1]["why"]
    assert "dislikes" in next(row for row in recall.gates[2]["listed"] if row["text"] == said)["reason"]


@pytest.mark.parametrize("said", PEANUTS.values())
@pytest.mark.parametrize("question", THAI)
def test_an_allergy_enters_first_where_its_category_is_touched(memory, said, question):
    memory.add_many({"text": f"{question} number {n}", "type": "episode"} for n in range(9))
    memory.add(said)
    assert recalled(memory, question)[0] == said
    assert memory.recall(question, k=1, threshold=0.99).hits[0].record.text == said


@pytest.mark.parametrize("said", PEANUTS.values())
@pytest.mark.parametrize(
    "question",
    [
        "peanut butter sandwich?",
        "a peanut butter sandwich recipe",
        "peanut butter",
        "satay with rice",
        "花生酱三明治",
        "花生酱",
    ],
)
def test_an_allergy_enters_where_its_thing_is_named_whatever_else_stands_there(memory, said, question):
    memory.add(said)
    assert recalled(memory, question) == [said]


@pytest.mark.parametrize(
    ("said", "link", "question"),
    [
        ("I dislike coffee", "a skinny zonk is a coffee", "should I order a skinny zonk?"),
        ("I dislike coffee", "espresso is a coffee", "fancy an espresso?"),
        ("I am allergic to nuts", "Zonkbread contains hazelnuts", "may I have a piece of zonkbread?"),
        ("我不喜欢喝咖啡", "佐克是一种咖啡", "给我来杯佐克"),
    ],
)
def test_a_users_own_relations_extend_the_table(memory, said, link, question):
    memory.add(said)
    unknown = not recalled(memory, question) or "espresso" in link
    memory.add(link)
    assert unknown
    assert said in recalled(memory, question)


@pytest.mark.parametrize("language", UNRELATED)
def test_an_unrelated_question_recalls_no_constraint(memory, language):
    questions = [" ".join(q.split()) for q in UNRELATED[language].split("|")]
    assert len(questions) >= 50
    said = [
        *COFFEE.values(),
        *PEANUTS.values(),
        "I never drink alcohol",
        "My son is allergic to cats",
        "我不吃香菜",
    ]
    memory.add_many({"text": text, "type": "constraint"} for text in said)
    loud = {q: hit.reason for q in questions for hit in memory.recall(q) if "asked for" in hit.reason}
    assert loud == {}


def test_what_was_taken_back_replaced_or_said_of_others_binds_no_more(memory):
    record = memory.add("I am allergic to peanuts")
    memory.forget(record.id)
    memory.add("I don't like coffee")
    memory.add("I like coffee")
    memory.add("Ana is allergic to milk")
    memory.add("Bo: I am allergic to eggs", "episode")
    assert recalled(memory, "suggest a drink") == []
    assert recalled(memory, "suggest a cake") == []
    assert recalled(memory, "suggest a cake for Ana") == ["Ana is allergic to milk"]


def test_types_and_k_hold_for_constraints_too(memory):
    memory.add("I am allergic to peanuts")
    assert list(memory.recall("suggest a Thai dish", types=["preference"])) == []
    assert list(memory.recall("suggest a Thai dish", k=0)) == []


def test_gates_still_add_up(memory):
    memory.add("I am allergic to peanuts")
    memory.add("I don't like coffee")
    for question in (*WAKE, *THAI, "tea or coffee, what should I drink?"):
        gates = memory.recall(question).gates
        assert gates[1]["left"] == gates[2]["entered"]
        assert gates[2]["left"] == gates[3]["entered"]


def test_a_graph_of_what_is_known_with_its_records(memory):
    coffee, espresso = memory.add("I don't like coffee"), memory.add("espresso is a coffee")
    memory.add("Ana lives in Rome")
    whole = memory.graph()
    assert {"source": "user", "relation": "dislikes", "target": "coffee", "record": coffee.id} in whole[
        "edges"
    ]
    near = memory.graph("Espresso")
    assert {node["id"] for node in near["nodes"]} == {"user", "coffee", "espresso"}
    assert {edge["record"] for edge in near["edges"]} == {coffee.id, espresso.id}
    assert memory.graph("nothing of the kind") == {"nodes": [], "edges": []}


def test_records_written_before_there_were_triples_are_read_once(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add("I don't like coffee")
        with memory._store.writing("default") as db:
            db.execute("DELETE FROM triples")
            db.execute("DELETE FROM settings")
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        assert recalled(memory, "something to wake me up") == ["I don't like coffee"]


def test_erased_means_out_of_the_graph_too(memory):
    memory.erase(memory.add("I am allergic to zyzzyvas").id)
    with memory._store.reading() as db:
        assert "zyzzyva" not in repr(db.execute("SELECT * FROM triples").fetchall())
