"""The launches of a case are timed apart behind the candidate, and no failure of that ends the case."""

from __future__ import annotations

from typing import Any

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.model import Case, Outcome, Severity
from engine.timing.kernel_times import NotTimedError


class Source:
    """Gives one simulated process, or raises."""

    def __init__(self, worker: Any, error: Exception | None = None) -> None:
        self.worker = worker
        self.error = error
        self.asked: list[str] = []

    async def side(self, case: Case, arranged: protocol.Arranged) -> Any:
        self.asked.append(case.name)
        if self.error is not None:
            raise self.error
        return self.worker


async def test_launches_are_timed_on_the_same_slots(make_lab):
    lab = make_lab(device_us=20.0)
    source = Source(lab.another(device_us=19.5))
    case = await lab.run(source=source)
    assert source.asked == [lab.case.name]
    assert case.kernel_us.value == pytest.approx(19.5, rel=0.02)
    assert (case.kernel_note, lab.raised()) == ("", {})


async def test_without_source_there_is_no_kernel_time(make_lab):
    case = await make_lab().run()
    assert (case.kernel_us, case.kernel_note) == (None, "")


@pytest.mark.parametrize(
    ("device_us", "severity"), [(40.0, Severity.SUSPECT), (10.0, Severity.HINT), (21.0, None)],
    ids=["longer", "shorter", "alike"],
)  # fmt: skip
async def test_times_that_disagree_are_found(make_lab, device_us, severity):
    lab = make_lab(device_us=20.0)
    await lab.run(source=Source(lab.another(device_us=device_us)))
    found = {finding.check: finding for finding in lab.findings}
    assert (found["kernel_time"].severity if "kernel_time" in found else None) is severity
    if severity is not None:
        assert "a call takes " in found["kernel_time"].message
        assert "us of device time, its launches alone take " in found["kernel_time"].message


@pytest.mark.parametrize("error", [NotTimedError("torch computes: aten::mm"), EngineError("the replayer failed")])
async def test_launches_that_cannot_be_timed_leave_a_note(make_lab, error):
    lab = make_lab()
    case = await lab.run(source=Source(None, error))
    assert (case.outcome, case.kernel_us) == (Outcome.PASS, None)
    assert case.kernel_note == f"no kernel time: {error}"


@pytest.mark.parametrize(
    ("script", "words"),
    [({"wrong_at_call": 5}, "3 of 4 elements differ"), ({"dies_at_call": 5}, "ended"), ({"fails_with": "no"}, "no")],
    ids=["wrong", "dead", "failing"],
)
async def test_failing_replayer_leaves_the_candidates_times(make_lab, script, words):
    lab = make_lab(device_us=20.0)
    case = await lab.run(source=Source(lab.another(**script)))
    assert (case.outcome, case.kernel_us) == (Outcome.PASS, None)
    assert case.timing.device_us.value == pytest.approx(20.0, rel=0.02)
    assert words in case.kernel_note


async def test_times_by_different_methods_are_not_compared(make_lab):
    lab = make_lab(device_us=20.0)
    case = await lab.run(source=Source(lab.another(device_us=40.0, method="", reason="no CUPTI")))
    assert case.kernel_us.value > 40.0
    assert case.kernel_note.startswith("the launches alone were timed by events: no CUPTI")
    assert lab.raised() == {}


@pytest.mark.parametrize(
    ("refresh_s", "calls"), [(0.0, 1 + 2 * 2 + 2 * 2 * 8), (0.05, 1 + 3 * 2 * 2)], ids=["quick", "slow"]
)
async def test_launches_are_repeated_within_their_time(make_lab, refresh_s, calls):
    lab = make_lab(device_us=20.0)
    lab.device.refresh_s = refresh_s
    another = lab.another(device_us=20.0, noise=0.0)
    await lab.run(source=Source(another), case_s=20.0)
    assert another.calls == calls


async def test_launches_of_changing_times_are_repeated_longer(make_lab):
    lab = make_lab(device_us=20.0)
    another = lab.another(device_us=20.0, noise=0.2)
    await lab.run(source=Source(another))
    assert another.calls == 1 + 2 * 2 + 7 * 2 * 8
