"""The plan as a tree: every edit leaves one that can be walked, or changes nothing and says why."""

import copy
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.errors import ToolInputError
from agent_nb.planning import tree
from agent_nb.task import Subtask

IDS = st.sampled_from(["1", "2", "3", "4", "x"])
TEXTS = st.sampled_from(["", "a", "b c"])
EDITS = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(tree.OPS)},
        optional={
            "id": IDS,
            "text": TEXTS,
            "needs": st.lists(IDS, max_size=3),
            "result": TEXTS,
            "expects": TEXTS,
        },
    ),
    max_size=6,
)


def plan(*rows):
    return [Subtask(id, f"do {id}", status, list(needs)) for id, status, needs in rows]


@given(st.lists(EDITS, max_size=8))
def test_whatever_is_edited_the_tree_can_be_walked_and_what_is_done_stays_done(rounds):
    nodes = plan(("1", "pending", ""), ("2", "pending", "1"))
    for edits in rounds:
        before = copy.deepcopy(nodes)
        try:
            after = tree.edit(nodes, edits)
        except ToolInputError:
            assert nodes == before
            continue
        tree.check(after)
        for node in before:
            if node.status == "done":
                assert node in after
        assert {node.status for node in after} <= set(tree.STATES)
        nodes = after
        running = tree.focus(nodes)
        if running is None:
            assert not tree.ready(nodes)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16))
def test_a_circle_is_found_wherever_it_is_and_only_where_there_is_one(pairs):
    nodes = [Subtask(str(n), "x", needs=[str(b) for a, b in pairs if a == n]) for n in range(8)]
    reach = {n: {b for a, b in pairs if a == n} for n in range(8)}
    for _ in range(8):
        reach = {n: found | {far for near in found for far in reach[near]} for n, found in reach.items()}
    if any(n in found for n, found in reach.items()):
        with pytest.raises(ToolInputError, match="wait for each other"):
            tree.check(nodes)
    else:
        tree.check(nodes)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"op": "finish", "id": "9"}, "no subtask '9'"),
        ({"op": "start", "id": "2"}, "needs 1 first"),
        ({"op": "finish", "id": "2"}, "needs 1 first"),
        ({"op": "change", "id": "0"}, "is done"),
        ({"op": "skip", "id": "0"}, "is done"),
        ({"op": "add"}, "needs a text"),
        ({"op": "add", "id": "1", "text": "again"}, "already"),
        ({"op": "add", "text": "more", "needs": ["9"]}, "no subtask"),
        ({"op": "change", "id": "1", "needs": ["2"]}, "wait for each other"),
        ({"op": "finish", "id": "f"}, "is failed"),
    ],
)
def test_a_wrong_edit_names_what_is_wrong(edit, said):
    nodes = plan(("0", "done", ""), ("1", "running", ""), ("2", "pending", "1"), ("f", "failed", ""))
    before = copy.deepcopy(nodes)
    with pytest.raises(ToolInputError, match=said):
        tree.edit(nodes, [{"op": "add", "text": "fine"}, edit])
    assert nodes == before


def test_what_failed_blocks_those_behind_it_until_it_is_changed_or_skipped():
    nodes = plan(("1", "failed", ""), ("2", "pending", "1"), ("3", "pending", "2"), ("4", "pending", ""))
    assert [n.id for n in tree.blocked(nodes)] == ["2", "3"]
    assert [n.id for n in tree.ready(nodes)] == ["4"]
    skipped = tree.edit(nodes, [{"op": "skip", "id": "1", "result": "not needed"}])
    assert [n.id for n in tree.ready(skipped)] == ["2", "4"]
    again = tree.edit(nodes, [{"op": "change", "id": "1", "text": "another way"}])
    assert again[0].status == "pending"
    assert not tree.blocked(again)


def test_more_subtasks_than_a_plan_should_have_are_refused():
    with pytest.raises(ToolInputError, match="at most"):
        tree.edit([], [{"op": "add", "text": f"part {n}"} for n in range(tree.MOST + 1)])


def test_ids_of_new_subtasks_are_free_ones():
    nodes = tree.edit(plan(("1", "done", ""), ("3", "done", "")), [{"op": "add", "text": t} for t in "ab"])
    assert len({n.id for n in nodes}) == 4
    assert all(isinstance(value, str | list | int) for n in nodes for value in dataclasses.asdict(n).values())
