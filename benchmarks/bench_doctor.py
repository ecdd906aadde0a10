"""How often the doctor names the station that broke: precision and recall over labelled runs.

Against the simplest diagnosis there is: the last event that tells of an error, or the judge where none does.
"""

import os
import sys
import tempfile

import agent_nb
from agent_nb import Limits, Session, doctor, events
from agent_nb.models.scripted import ScriptedModel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from doctor_runs import CASES, LATER, TOOLS, 销量表


def played(n, goal, replies, settings):
    """(events of the case's run, the memory it had or None)."""
    settings = {"memory": None, "limits": Limits(steps=12), "tools": TOOLS} | settings
    if settings["tools"] == "zh":
        settings["tools"] = [销量表]
    memory = settings["memory"]() if callable(settings["memory"]) else settings["memory"]
    made = Session(ScriptedModel(list(replies)), **settings | {"memory": memory, "name": f"case {n}"})
    made.run(goal)
    return doctor.turn_about(made.trace), memory


def naive(turn):
    """The kinds that the simplest diagnosis names."""
    for event in reversed(turn):
        if isinstance(event, events.ToolFinished) and not event.observation.get("ok"):
            return ["wrong_tool" if event.observation.get("kind") != "failed" else "tool_wrong"]
        if isinstance(event, events.CallFailed):
            return ["wrong_tool"]
    ended = turn[-1]
    return (
        []
        if getattr(ended, "done", False) or getattr(ended, "stop_reason", "") == "needs_input"
        else ["judged_wrong"]
    )


def score(cases, told):
    """(recall, share where it is named first, precision, sound runs left in peace), and what went wrong."""
    named = first = right = all_named = quiet = 0
    wrong = []
    for (name, broke, follows, *_), found in zip(cases, told, strict=True):
        if not broke:
            quiet += not found
        else:
            named += broke in found
            first += found[:1] == [broke]
        right += sum(kind in {broke, *follows} for kind in found)
        all_named += len(found)
        if (broke and found[:1] != [broke]) or (set(found) - {broke, *follows}):
            wrong.append(f"{name}: {broke or 'sound'}, named {', '.join(found) or 'nothing'}")
    broken = sum(bool(case[1]) for case in cases)
    return (named / broken, first / broken, right / max(1, all_named), quiet / (len(cases) - broken)), wrong


def examined(cases, prefix=""):
    """What the doctor and the simplest diagnosis name for each case."""
    ours, plain = [], []
    for n, (_, _, _, goal, replies, settings) in enumerate(cases):
        turn, memory = played(f"{prefix}{n}", goal, replies, settings)
        ours.append(list(dict.fromkeys(found.kind for found in doctor.examine(turn, memory))))
        plain.append(naive(turn))
    return ours, plain


def main():
    """Print both, and what the doctor got wrong."""
    print(
        f"agent_nb {agent_nb.__version__}: runs with one fault each, and sound ones, in English and Chinese"
    )
    for what, cases in (("the runs", CASES), ("runs written after the rules", LATER)):
        broken = sum(bool(case[1]) for case in cases)
        print(f"{what}: {broken} broken, {len(cases) - broken} sound")
        for name, told in zip(("the doctor", "the last error"), examined(cases, what), strict=True):
            (recall, first, precision, quiet), wrong = score(cases, told)
            print(
                f"  {name}: recall {recall:.2f} (named first {first:.2f}), precision {precision:.2f}, "
                f"sound runs left in peace {quiet:.2f}"
            )
            for line in wrong if name == "the doctor" else ():
                print(f"    {line}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGENT_NB_HOME"] = folder
        main()
