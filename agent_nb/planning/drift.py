"""Goal drift: a follow-up that changes the goal, and steps that have left it. Words, cheap enough for every round."""

from __future__ import annotations

import re
from typing import Any

from ..memory.text import tokens
from ..task import Subtask, Task

Json = dict[str, Any]

_CHANGED = re.compile(
    r"^\W*(?:no\s*[,.;!:，。]|no\s+(?:wait|not|i|forget|it|that|please|use|show|do)\b|nope\b|actually\b|instead\b|"
    r"rather\b(?! than)|never mind|wait\s*[,.!…]|"
    r"forget (?:it|that|about)|scrap (?:it|that)|stop that|i meant\b|i mean\b|change of plan|"
    r"不对|不是[，,。]|不是这|算了|不用了|不要了|换成|改成|改为|改问|别管|其实|我是说|我的意思)"
    r"|\b(?:do|show|use|take|give me|look at|compare) .{1,80}\binstead\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"^\W*(?:and\b|also\b|what about\b|how about\b|then\b|continue\b|go on\b|carry on\b|yes\b|ok(?:ay)?\b|"
    r"please do\b|那|还有|另外|继续|接着|好的?|是的|对$|嗯)",
    re.IGNORECASE,
)
SIMILAR = 0.15
"""Share of the shorter text's terms that both hold, above which a follow-up still is about the same."""
ANSWER_WORDS = 14
STEPS = 3
"""So many steps in a row without a word of the goal are off it."""


def follow_up(before: Json, goal: str) -> tuple[str, str]:
    """(kind, why) of a goal after the turn before it.

    kind: "answer" to what the agent asked, "same" subject, "changed" goal, or "new" where nothing is taken back.
    Cue words decide first, then shared words.
    """
    old = str(before.get("goal") or "")
    if not old:
        return "new", "there is no turn before it"
    if cue := _CHANGED.search(goal):
        return "changed", f"“{' '.join(cue.group().split())}”"
    asked = before.get("stop_reason") == "needs_input"
    words = len(re.findall(r"[A-Za-z0-9_]+|[\u3400-\u9fff]", goal))
    if asked and words <= ANSWER_WORDS and not goal.rstrip().endswith(("?", "？")):
        return "answer", "it answers the question of the turn before"
    if cue := _GOES_ON.search(goal):
        return "same", f"“{' '.join(cue.group().split())}”"
    share = similarity(f"{old} {before.get('answer') or ''}", goal)
    if share >= SIMILAR:
        return "same", f"{share:.0%} of its words stood in the turn before"
    if asked:
        return "changed", "it shares no words with the question that was asked"
    return "new", "it shares no words with the turn before"


def similarity(a: str, b: str) -> float:
    """Share of the shorter text's terms that the other one holds too, 0…1."""
    left, right = set(tokens(a)), set(tokens(b))
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def likeness(node: Subtask, running: Subtask | None) -> float:
    """How much a finished subtask has to do with the running one, 0…1: what it needs, then shared words."""
    if running is None:
        return 0.0
    return 1.0 if node.id in running.needs else similarity(f"{node.text} {node.result}", running.text)


class Course:
    """Whether the steps still are about the goal. One set of words a run, one look a step."""

    def __init__(self) -> None:
        self._goal: set[str] | None = None
        self._off = 0
        self._told = False

    def off(self, task: Task) -> bool:
        """Take the step's thought; True once, when `STEPS` thoughts in a row hold no word of the goal.

        Thoughts of few words, and those in another script than the goal's, tell nothing.
        """
        if self._told or len(task.text) < 40:
            return False
        if self._goal is None:
            plan = " ".join([n.text for n in task.plan] + [c.text for c in task.criteria])
            earlier = f"{task.before.get('goal', '')} {task.before.get('answer', '')}" if task.before else ""
            self._goal = set(tokens(f"{task.goal} {plan} {earlier}"))
        words = set(tokens(task.text[:600]))
        if len(self._goal) < 3 or len(words) < 5 or _chinese(task.goal) != _chinese(task.text):
            return False
        self._off = 0 if words & self._goal else self._off + 1
        self._told = self._off >= STEPS
        return self._told


def _chinese(text: str) -> bool:
    return bool(re.search(r"[\u3400-\u9fff]", text))
