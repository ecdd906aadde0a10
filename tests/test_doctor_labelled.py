"""The labelled runs of the benchmark: the doctor names their stations, and leaves sound runs in peace."""

import importlib.util
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("bench_doctor", FOLDER / "bench_doctor.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stations_of_labelled_runs_are_named(bench):
    cases = bench.CASES + bench.LATER
    ours, plain = bench.examined(cases)
    (recall, first, precision, quiet), wrong = bench.score(cases, ours)
    assert min(recall, first, precision, quiet) >= 0.95, wrong
    assert sum(bool(case[1]) for case in cases) >= 50
    assert {case[1] for case in cases} == {*bench.doctor.BREAKS, ""}
    assert bench.score(cases, plain)[0][0] < 0.5, "the runs are none that the last error would explain"
