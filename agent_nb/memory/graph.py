"""Relations between things: kept with the records that state them, and used as constraints in recall.

What a user dislikes, avoids or is allergic to is recalled when a question asks for something of that kind, in
whatever words: "something to wake me up" asks for a stimulant drink, and coffee is one. How far this reaches is
said by `categories` and by the user's own sentences ("espresso is a coffee").
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from . import categories, relations, settings, store
from .categories import Categories
from .record import MemoryRecord

Json = dict[str, Any]

HARD, SOFT = ("allergic_to",), ("dislikes", "avoids")
KEPT = "triples_kept"
"""Setting: the version of the rules by which a user's records were read."""
VERSION = "1"
_LINKS = ("is_a", "contains")
_SHOWN = {"allergic_to": "is allergic to", "is_a": "is a", "contains": "may contain"}

_IS_A = re.compile(
    r"^(?:an? |the )?(?P<s>[\w' -]{1,40}?) (?:is|are) (?:an? |kinds? of )?(?P<o>[\w' -]{1,40}?)[.!]?$", re.I
)
_MEATLESS = re.compile(
    r"\b(?:i am|i'm|we are) (?:an? )?(?:strict )?(?:vegetarian|vegan)\b|^我(?:是素食|吃素|是纯素)", re.I
)

_ASKS = re.compile(
    r"\b(?:recommend|suggest|ideas?|options?|choose|pick|order|buy|book|get|grab|bring|serve|try|have|want|need|fancy"
    r"|craving|safe|suitable|allowed|tonight|today|tomorrow|weekend|should|could|can|shall|may|let's|plan|prepare"
    r"|make|cook|bake|eat|drink|taste|gift|guests?|party|for me|something|anything|what's for)\b"
    r"|推荐|建议|来[点杯份个一]|[点买订选做带吃喝尝送](?:个|点|杯|份|一|什么|些|哪)|想[吃喝买养要]|能[吃喝用养]|可以[吃喝用养]|该[吃喝用买]"
    r"|今[晚天]|明[晚天]|周末|晚上|早上|准备|安排|有什么|适合|请客|聚会|给我|帮我",
    re.I,
)
_DATA = re.compile(
    r"\b(?:how many|how much|average|mean|median|sum|total|count|number of|per (?:day|week|month|year|region|store)"
    r"|tables?|columns?|rows?|chart|plot|sales|sold|revenue|turnover|trend|csv|sql|query|dataframe|percent|share of"
    r"|correlat\w+|group(?:ed)? by|dataset|orders? table|forecast|stock price|supplier|inventory|by (?:month|region))\b"
    r"|多少|平均|总[和数额]|统计|销量|销售|营收|数据|表格?里|列|行数|图表|占比|趋势|同比|环比|库存|供应商|预测|股价",
    re.I,
)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """A record that binds the answer to a question. `chain`: the relations that lead to it, in words."""

    record: MemoryRecord
    hard: bool
    chain: str


def stated(record: MemoryRecord) -> list[relations.Triple]:
    """The triples that a record states; a turn of a conversation is somebody's talk and states none."""
    if record.type == "episode":
        return []
    found = relations.triples(record.text)
    if _MEATLESS.search(record.text):
        found = [*found, relations.Triple(relations.USER, "avoids", "meat")]
    is_a = _IS_A.match(record.text.strip())
    if is_a and not found and is_a["o"].lower() in categories.shipped().names:
        found = [relations.Triple(is_a["s"], "is_a", is_a["o"])]
    return found


def keep(db: Any, record: MemoryRecord) -> None:
    """Write the triples of a record, in the transaction that writes the record."""
    db.execute("DELETE FROM triples WHERE user=? AND record=?", (record.user, record.id))
    db.executemany(
        "INSERT INTO triples (user, record, subject, relation, object) VALUES (?,?,?,?,?)",
        [
            (record.user, record.id, *(_sendable(part) for part in dataclasses.astuple(t)))
            for t in stated(record)
        ],
    )


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def is_behind(db: Any, user: str) -> bool:
    """Whether records of this user were written before triples were."""
    return settings.read(db, user, KEPT) != VERSION


def catch_up(db: Any, user: str) -> None:
    """Read all records that were written before triples were."""
    for record in store.select(db, user, "type<>'episode'"):
        keep(db, record)
    settings.write(db, user, KEPT, VERSION)


def edges(db: Any, user: str, names: tuple[str, ...] = ()) -> list[tuple[str, str, str, str]]:
    """(record, subject, relation, object) of what the active records state; of these relations only, if any."""
    marks = f" AND t.relation IN ({store.marks_for(names)})" if names else ""
    query = (
        "SELECT t.record, t.subject, t.relation, t.object FROM triples t JOIN records r ON r.id=t.record"
        f" WHERE t.user=? AND r.user=? AND r.status='active'{marks} ORDER BY t.record, t.subject, t.relation, t.object"
    )
    return [tuple(row) for row in db.execute(query, (user, user, *names)).fetchall()]


def graph(db: Any, user: str, entity: str | None = None) -> Json:
    """`nodes`: dicts of id (the entity), records; `edges`: dicts of source, relation, target, record.

    With an entity, only what is linked to it, in any number of steps.
    """
    rows = edges(db, user)
    if entity is not None:
        near = {entity.casefold()}
        ends = [{subject.casefold(), object.casefold()} for _, subject, _, object in rows]
        while more := set().union(*(pair for pair in ends if pair & near)) - near:
            near |= more
        rows = [row for row in rows if row[1].casefold() in near]
    nodes: dict[str, list[str]] = {}
    for record, subject, _, object in rows:
        for name in (subject, object):
            known = nodes.setdefault(name, [])
            known += [record] if record not in known else []
    return {
        "nodes": [{"id": name, "records": records} for name, records in nodes.items()],
        "edges": [{"source": s, "relation": r, "target": o, "record": id} for id, s, r, o in rows],
    }


def both(own: Json, team: Json) -> Json:
    """Two graphs as one."""
    nodes: dict[str, list[str]] = {}
    for node in own["nodes"] + team["nodes"]:
        nodes.setdefault(node["id"], []).extend(node["records"])
    found = [{"id": name, "records": records} for name, records in nodes.items()]
    return {"nodes": found, "edges": own["edges"] + team["edges"]}


def binds(db: Any, user: str) -> bool:
    """Whether any record may bind an answer."""
    wanted = (*HARD, *SOFT)
    marks = store.marks_for(wanted)
    return bool(
        db.execute(
            f"SELECT 1 FROM triples WHERE user=? AND relation IN ({marks}) LIMIT 1", (user, *wanted)
        ).fetchone()
    )


def constraints(db: Any, user: str, question: str) -> list[Constraint]:
    """What binds the answer to a question: allergies first."""
    wanted = _wanted(question)
    if not wanted and _DATA.search(question):
        return []
    rows = edges(db, user, (*HARD, *SOFT, *_LINKS))
    # An allergy counts wherever its thing is named, even where nobody says that they want to have it.
    binding = HARD + SOFT if wanted else HARD
    bound = [row for row in rows if row[2] in binding and _meant(row[1], question)]
    if not bound:
        return []
    known = Categories(categories.shipped())
    for _, subject, relation, object in rows:
        if relation in _LINKS:
            known.extend(subject, relation, object)
    asked = {**_needs(question), **known.named(question)}
    found: dict[str, tuple[bool, str]] = {}
    for id, subject, relation, object in bound:
        hard, thing = relation in HARD, known.name(object)
        special = (
            asked if wanted else {n: w for n, w in asked.items() if n not in known.above(thing) or n == thing}
        )
        way = _way(known, thing, special, hard and wanted)
        if way and (id not in found or (hard and not found[id][0])):
            shown = _SHOWN.get(relation, relation)
            found[id] = (hard, f"{subject} {shown} {object}; {way}")
    if not found:
        return []
    records = store.named(db, user, list(found))
    return sorted((Constraint(r, *found[r.id]) for r in records), key=lambda c: not c.hard)


def _wanted(question: str) -> bool:
    """Whether a question asks for something to have, rather than for figures."""
    return bool(_needs(question)) or bool(_ASKS.search(question) and not _DATA.search(question))


def _needs(question: str) -> dict[str, str]:
    found = {}
    for pattern, thing in categories.NEEDS:
        if match := re.search(pattern, question, re.I):
            found[thing] = match.group()
    return found


def _meant(subject: str, question: str) -> bool:
    """Whether what is said of this subject binds: the user and their family, others where the question names them."""
    if subject == relations.USER or subject.startswith((f"{relations.USER}'s", f"{relations.USER}的")):
        return True
    return subject.casefold() in question.casefold()


def _way(known: Categories, thing: str, asked: dict[str, str], hard: bool) -> str:
    """How what is asked for leads to a thing that is not wanted, in words; "" where it does not."""
    above = known.above(thing)
    special = sorted(asked, key=lambda name: -len(known.above(name)))  # satay says more than food
    for name in special:
        word, mine = asked[name], known.above(name)
        if thing in mine:
            return _told(mine[thing], word)
        for part, way in mine.items():
            for inside in known.contents.get(part, ()):
                inner = known.above(inside)
                if thing in inner:
                    steps = [*way, *inner[thing]]
                    return f"asked for {word}: {' → '.join(dict.fromkeys(steps))} (may contain)"
        if name in above:
            return _told(above[name], word)
        if hard and any(domain in mine and domain in above for domain in categories.DOMAINS):
            domain = next(d for d in categories.DOMAINS if d in mine and d in above)
            return f"asked for {word}, which is {domain}, and {thing} is {domain}"
    return ""


def _told(steps: list[str], word: str) -> str:
    return f"asked for {word}" + (f": {' is a '.join(steps)}" if len(steps) > 1 else "")
