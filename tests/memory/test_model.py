"""Any series of operations on a real file, against a dictionary that knows what should be there."""

import itertools
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent_nb.memory import Memory

GATES = st.integers(0, 4)
VALUES = st.integers(10, 14)


class Model(RuleBasedStateMachine):
    """`heads`: gate → [value, source]; `doubted`: (gate, value) that wait."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.count = itertools.count()
        self.heads, self.ids, self.doubted, self.episodes = {}, {}, set(), 0
        self.open()

    def open(self):
        self.memory = Memory(f"{self.folder.name}/m.db", user="ana", embedder=None)
        self.other = Memory(f"{self.folder.name}/m.db", user="bob", embedder=None)

    def teardown(self):
        self.memory.close()
        self.other.close()
        self.folder.cleanup()

    @rule(gate=GATES, value=VALUES)
    def say(self, gate, value):
        record = self.memory.add(f"the limit of gate {gate} is {value}")
        assert record.status == "active"
        self.heads[gate], self.ids[gate] = value, record.id
        self.doubted.discard((gate, value))

    @rule(gate=GATES, value=VALUES)
    @precondition(lambda self: self.heads)
    def doubt(self, gate, value):
        if gate not in self.heads:
            return
        record = self.memory.add(f"the limit of gate {gate} is {value}", source="tool")
        if value != self.heads[gate]:
            assert record.status == "pending"
            self.doubted.add((gate, value))
        else:
            assert record.id == self.ids[gate]

    @rule()
    def talk(self):
        self.memory.add(f"turn {next(self.count)}", "episode")
        self.episodes += 1

    @rule(gate=GATES)
    def forget(self, gate):
        if gate in self.heads and not any(g == gate for g, _ in self.doubted):
            self.memory.forget(self.ids.pop(gate))
            del self.heads[gate]

    @rule()
    def reopen(self):
        self.memory.close()
        self.other.close()
        self.open()

    @rule(gate=GATES)
    def somebody_else(self, gate):
        self.other.add(f"the limit of gate {gate} is 99")

    @invariant()
    def holds(self):
        active = [r for r in self.memory.search() if r.type != "episode"]
        expected = sorted(f"the limit of gate {gate} is {value}" for gate, value in self.heads.items())
        assert sorted(record.text for record in active) == expected
        stats = self.memory.stats()
        assert (stats["active"], stats["pending"]) == (len(active) + self.episodes, len(self.doubted))
        assert len(self.memory.search(type="episode")) == self.episodes
        for gate, id in self.ids.items():
            chain = self.memory.history(id)
            assert chain[-1].id == id or chain[-1].status == "superseded"
            assert all(f"gate {gate} " in record.text for record in chain)
            found = {hit.record.id for hit in self.memory.recall(f"limit of gate {gate}", k=50, threshold=0)}
            assert id in found
            assert found <= {record.id for record in self.memory.search()}


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
