"""The deadline of a reference process, on a clock and measurements of this test."""

from __future__ import annotations

import pytest

from engine.cpu_time.deadline import Interval
from engine.errors import MachineBusyError
from engine.judge.reference_deadline import ReferenceDeadline
from engine.protocol.transport.byte_stream import StreamError

LIMIT_S = 10.0


class Machine:
    """A clock, and how much of each second the process computes and waits for a CPU."""

    def __init__(self, *, cpu_s: float, delayed_s: float = 0.0) -> None:
        self.now_s = self._looked_s = 0.0
        self._each = cpu_s, delayed_s

    def look(self) -> Interval:
        past_s, self._looked_s = self.now_s - self._looked_s, self.now_s
        cpu_s, delayed_s = self._each
        return Interval(wall_s=past_s, cpu_s=past_s * cpu_s, delayed_s=past_s * delayed_s)

    def seconds_until_out_of_time(self, deadline: ReferenceDeadline) -> float:
        """How long `check` raises nothing, called once a second."""
        begun_s = self.now_s
        deadline.begin(LIMIT_S)
        while True:
            self.now_s += 1.0
            try:
                deadline.check()
            except StreamError:
                return self.now_s - begun_s


@pytest.mark.parametrize(
    ("cpu_s", "delayed_s", "expected_s"),
    [(1.0, 0.0, 10.0), (0.0, 0.0, 20.0), (0.25, 0.75, 40.0)],
    ids=["computes", "sleeps", "shares-the-cpu-with-three-others"],
)
def test_deadline_counts_processor_time(cpu_s: float, delayed_s: float, expected_s: float) -> None:
    machine = Machine(cpu_s=cpu_s, delayed_s=delayed_s)
    deadline = ReferenceDeadline(machine.look, clock=lambda: machine.now_s)
    assert machine.seconds_until_out_of_time(deadline) == expected_s
    assert machine.seconds_until_out_of_time(deadline) == expected_s  # counted from `begin`


def test_deadline_on_busy_machine_does_not_blame_reference() -> None:
    machine = Machine(cpu_s=0.01, delayed_s=0.99)
    deadline = ReferenceDeadline(machine.look, clock=lambda: machine.now_s)
    with pytest.raises(MachineBusyError, match=r"was given 2 s of CPU time in 200 s"):
        machine.seconds_until_out_of_time(deadline)
