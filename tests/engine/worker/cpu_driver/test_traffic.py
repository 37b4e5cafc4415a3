"""The traffic of a launch has the machine's counts, with lines of the candidate's file."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from engine.machine.executor import execute
from engine.machine.ir import Scalar, SourceLocation
from engine.machine.memory import Address, Memory, Storage
from engine.machine.results import AccessFacts, AccessKind, Execution
from engine.model import Traffic, TrafficKind
from engine.protocol.launches import MOST_ACCESSES, MOST_OPERATIONS, require_small_enough
from engine.worker.cpu_driver.traffic import traffic_of
from tests.engine.replay.tapes import double, launch_record

FACTS = AccessFacts(
    kind=AccessKind.STORE,
    location=SourceLocation(file="k.py", line=7, column=1),
    storages=("y",),
    executions=3,
    requested_bytes=48,
    distinct_bytes=24,
    sectors=2,
)


def execution(*accesses, operations=None):
    return Execution(
        is_complete=True,
        programs=3,
        findings=(),
        accesses=accesses,
        elements_by_operation=operations or {},
        printed=(),
        is_reordered=False,
    )


def test_an_access_has_its_line_in_the_file():
    (access,) = traffic_of(execution(FACTS), "k.py").accesses
    assert (access.kind, access.line, access.tensors, access.executions) == (TrafficKind.STORE, 7, ("y",), 3)
    assert (access.requested_bytes, access.distinct_bytes, access.sectors, access.used_percent) == (48, 24, 2, 37.5)


def test_an_access_of_another_file_has_no_line():
    assert traffic_of(execution(FACTS), "other.py").accesses[0].line is None


def test_traffic_reports_are_limited_to_reply_size():
    many = execution(*[FACTS] * 100, operations={f"op{number}": number for number in range(100)})
    traffic = traffic_of(many, "k.py")
    assert (len(traffic.accesses), len(traffic.operations)) == (MOST_ACCESSES, MOST_OPERATIONS)
    assert list(traffic.operations)[:2] == ["op99", "op98"]
    require_small_enough([dataclasses.replace(launch_record(), traffic=traffic)])


@pytest.mark.parametrize(
    "changes",
    [{"programs": 2**70}, {"operations": {"a" * 600: 1}}, {"operations": {"a": 2**70}}],
    ids=["programs", "name", "elements"],
)
def test_immense_traffic_is_refused(changes):
    traffic = dataclasses.replace(Traffic(programs=1, accesses=(), operations={}), **changes)
    with pytest.raises(ValueError, match="a launch with"):
        require_small_enough([dataclasses.replace(launch_record(), traffic=traffic)])


def test_masked_lanes_are_not_counted_as_traffic():
    memory = Memory(
        [
            Storage(name=name, data=np.zeros(24, np.uint8), base=base, element=Scalar.F32)
            for name, base in (("x", 1 << 20), ("y", 1 << 21))
        ]
    )
    ran = execute(double().module, (1, 1, 1), (Address(storage=0), Address(storage=1), 6), memory)
    found = [(one.kind, one.tensors, one.requested_bytes, one.sectors) for one in traffic_of(ran, "").accesses]
    assert found == [(TrafficKind.LOAD, ("x",), 24, 1), (TrafficKind.STORE, ("y",), 24, 1)]
