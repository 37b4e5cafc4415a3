"""The sample: fixed by node ids, with every group in it, and told in the summary."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from tests.sampling import COSTLY, ONE_IN, Collected, in_sample

ROOT = Path(__file__).parents[1]
NUMBERS = [f"tests/test_a.py::test_numbers[{number}]" for number in range(40)]
SUITE = """
import pytest


@pytest.mark.slow
def test_slow():
    raise AssertionError("runs in the whole suite only")


@pytest.mark.parametrize("number", range(10))
def test_not_marked(number):
    pass


@pytest.mark.sampled(group=lambda word: word[0])
@pytest.mark.parametrize("word", ["ant", "ape", "bee", "cat", "cow", "crow"])
def test_of_three_groups(word):
    pass
"""
CONFTEST = """
from tests.sampling import OPTION, Sampling, add_option


def pytest_addoption(parser):
    add_option(parser)


def pytest_configure(config):
    config.addinivalue_line("markers", "slow")
    config.addinivalue_line("markers", "sampled(group)")
    config.pluginmanager.register(Sampling(config.getoption(OPTION)))
"""


def sampled(nodeids: Iterable[str], divisor: int) -> frozenset[str]:
    """What the sample has of these sets of parameters of a marked test."""
    return in_sample([Collected(nodeid=nodeid, sampled=True) for nodeid in nodeids], divisor)


def test_unmarked_test_is_in_sample() -> None:
    assert in_sample([Collected(nodeid=nodeid) for nodeid in NUMBERS], 1_000) == {*NUMBERS}


def test_slow_test_is_not_in_sample() -> None:
    assert in_sample([Collected(nodeid="a", slow=True), Collected(nodeid="b", slow=True, sampled=True)], 1) == set()


def test_marked_test_is_sampled_by_checksum() -> None:
    divided = {nodeid for nodeid in NUMBERS if zlib.crc32(nodeid.encode()) % 8 == 0}
    assert 0 < len(divided) < len(NUMBERS)
    assert sampled(NUMBERS, 8) == divided | {min(NUMBERS, key=lambda nodeid: zlib.crc32(nodeid.encode()))}


def test_costly_file_runs_some_and_at_least_one() -> None:
    named = [f"{COSTLY[1]}test_a.py::test_{number}" for number in range(40)]
    divided = {nodeid for nodeid in named if zlib.crc32(nodeid.encode()) % ONE_IN == 0}
    assert 0 < len(divided) < len(named)
    smallest = min(named, key=lambda nodeid: zlib.crc32(nodeid.encode()))
    assert in_sample([Collected(nodeid=nodeid) for nodeid in named], 1_000) == divided | {smallest}
    assert len(in_sample([Collected(nodeid=named[0])], 1_000)) == 1


def test_every_costly_file_exists() -> None:
    assert [name for name in COSTLY if not (ROOT / name).exists()] == []


def test_the_order_of_the_tests_changes_nothing() -> None:
    assert sampled(reversed(NUMBERS), 8) == sampled(NUMBERS, 8)


def test_every_marked_test_is_sampled_at_least_once() -> None:
    others = [nodeid.replace("numbers", "others") for nodeid in NUMBERS]
    chosen = sampled([*NUMBERS, *others], 1_000_000_007)
    assert (len(chosen & {*NUMBERS}), len(chosen & {*others})) == (1, 1)


def test_every_group_is_sampled_however_small() -> None:
    words = ["ant", "ape", "bee", "cat", "cow", "crow"]
    tests = [Collected(nodeid=f"a.py::test_word[{word}]", sampled=True, group=word[0]) for word in words]
    chosen = in_sample(tests, 1_000_000_007)
    assert sorted(nodeid.partition("[")[2][0] for nodeid in chosen) == ["a", "b", "c"]


def test_workers_run_sample_and_summary_states_size(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_one.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--sample=1000000007"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}"}
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert "sample: 13 of 17 tests; make test-all runs all" in ended.stdout.splitlines()
    assert "= 13 passed in " in ended.stdout.splitlines()[-1]
