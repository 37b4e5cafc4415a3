"""Outputs that change after the return are suspect, those that stay are a fact; the calls are scripted here."""

from __future__ import annotations

from collections import Counter

import pytest

from engine import wire
from engine.layers import Coverage, Fact
from engine.model import Severity
from engine.probes import deferred
from tests.engine.probes.scripted import Called, Came, ScriptedLab, observed, passed

QUIET_S = [0.1, 0.0]


def later(came: Came, at_return: Came | None = None, *, interpreted: bool = False) -> ScriptedLab:
    """A lab in which this is seen a while after the return."""

    def script(called: Called | wire.Recall, _: int) -> Came:
        return came if isinstance(called, wire.Recall) else at_return or Came()

    return ScriptedLab(passed=[passed("c")], script=script, interpreted=interpreted)


async def test_an_output_that_stays_is_a_fact() -> None:
    lab = later(Came())
    findings, report = await observed(deferred.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts == (Fact(name="c", value="none of 1000 elements changed within 100 ms of the return"),)
    assert (lab.recalled, lab.paused) == (QUIET_S, [])


async def test_in_the_interpreter_others_ask_meanwhile_and_no_call_of_its_own_is_needed() -> None:
    lab = later(Came(), interpreted=True)
    lab.others = Counter(c=2, d=1)
    findings, report = await observed(deferred.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    value = "none of 1000 elements changed within 50 ms of the return, beside 3 more calls"
    assert report.facts == (Fact(name="c", value=value),)
    assert (lab.paused, lab.recalled) == ([0.05], [0.0])
    assert [call.watch for call in lab.called] == [wire.Watch(positions=(0,), aside=True)]


async def test_where_nobody_else_called_the_case_it_is_called_once_more() -> None:
    lab = later(Came(), interpreted=True)
    lab.others = Counter(d=1)
    _, report = await observed(deferred.probe, lab)
    assert [(call.fresh, call.watch is None) for call in lab.called] == [(True, False), (True, True)]
    assert report.facts[0].value.endswith("beside 2 more calls")


@pytest.mark.parametrize(("cases", "pause_s"), [(3, 0.1), (1, 0.05)])
async def test_the_wait_is_shorter_in_the_interpreter_where_verifying_was(cases: int, pause_s: float) -> None:
    lab = ScriptedLab(passed=[passed(f"c{number}") for number in range(cases)])
    await observed(deferred.probe, lab)
    assert lab.paused == [pause_s]


def beside_others(came: Came, *quiet: Came) -> ScriptedLab:
    """A lab in which this is seen of an answer beside other calls, and then these in quiet, in turn."""
    in_quiet = list(quiet)

    def script(called: Called | wire.Recall, _: int) -> Came:
        if not isinstance(called, wire.Recall):
            return Came()
        return came if called.aside else in_quiet.pop(0)

    return ScriptedLab(passed=[passed("c")], script=script)


async def test_a_change_beside_other_calls_is_looked_at_again_in_quiet() -> None:
    lab = beside_others(Came(changed=9), Came(changed=7))
    ((finding,), report) = await observed(deferred.probe, lab)
    assert finding.message == "the output changed after the call had returned: 7 of 1000 elements of return are changed"
    assert (report.coverage, lab.recalled) == (Coverage.CHECKED, [0.0, 0.05])


async def test_a_change_that_the_next_call_makes_is_told_apart_in_quiet() -> None:
    ((finding,), _) = await observed(deferred.probe, beside_others(Came(changed=9), Came(), Came(changed=7)))
    assert finding.message.startswith("the next call changed the answer of the one before, 7 of 1000")


async def test_a_change_that_does_not_come_again_in_quiet_is_suspect_all_the_same() -> None:
    ((finding,), report) = await observed(deferred.probe, beside_others(Came(changed=9), Came(), Came()))
    assert (finding.severity, finding.check, finding.case) == (Severity.SUSPECT, "deferred", "c")
    assert finding.message == (
        "the output changed after the call had returned, beside other calls: 9 of 1000 elements of return are changed"
    )
    assert report.coverage is Coverage.CHECKED


async def test_what_cannot_be_recalled_after_others_is_looked_at_in_quiet() -> None:
    lab = beside_others(Came(trouble="a new worker has nothing"), Came(), Came())
    findings, report = await observed(deferred.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts == (Fact(name="c", value="none of 1000 elements changed within 50 ms of the return"),)


async def test_arguments_that_the_entry_writes_are_watched() -> None:
    lab = later(Came())
    await observed(deferred.probe, lab)
    assert [(call.fresh, call.watch) for call in lab.called] == [(True, wire.Watch(positions=(0,))), (True, None)]


async def test_an_output_that_is_spoiled_later_is_suspect() -> None:
    ((finding,), report) = await observed(deferred.probe, later(Came(wrong=3, changed=3)))
    assert (finding.severity, finding.check, finding.case) == (Severity.SUSPECT, "deferred", "c")
    assert finding.message == (
        "the output changed after the call had returned: 3 of 1000 elements of return are changed; "
        "it was right when the call returned, and is not any more"
    )
    assert report.coverage is Coverage.CHECKED


async def test_an_output_that_comes_later_is_suspect() -> None:
    ((finding,), _) = await observed(deferred.probe, later(Came(changed=1000), at_return=Came(wrong=1000)))
    assert finding.message.endswith(
        "1000 of 1000 elements of return are changed; it was not ready when the call returned"
    )


async def test_a_change_that_is_right_before_and_after_is_suspect() -> None:
    ((finding,), _) = await observed(deferred.probe, later(Came(changed=1)))
    assert finding.message.endswith("1 of 1000 elements of return are changed")


@pytest.mark.parametrize("interpreted", [True, False])
async def test_trouble_in_the_call_or_afterwards_is_not_innocence(interpreted: bool) -> None:
    trouble = Came(trouble="no answer")
    for lab in (
        later(Came(), at_return=trouble, interpreted=interpreted),
        later(trouble, interpreted=interpreted),
    ):
        findings, report = await observed(deferred.probe, lab)
        assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "no answer")


async def test_without_a_right_case_nothing_was_checked() -> None:
    findings, report = await observed(deferred.probe, ScriptedLab(passed=[]))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "no case was right")


async def test_the_smallest_case_with_enough_elements_is_called_and_on_a_device_the_largest_too() -> None:
    cases = [passed("large", size=9), passed("few", elements=5), passed("small", size=2), passed("middle", size=5)]
    for interpreted, expected in ((True, ["small"]), (False, ["small", "large"])):
        lab = ScriptedLab(passed=cases, interpreted=interpreted)
        await observed(deferred.probe, lab)
        assert list(dict.fromkeys(call.case for call in lab.called)) == expected


def after_the_next(came: Came, called_again: Came | None = None) -> ScriptedLab:
    """A lab in which this is seen of an answer when another call was made after it."""
    calls: list[Called] = []

    def script(called: Called | wire.Recall, _: int) -> Came:
        if isinstance(called, wire.Recall):
            return came if len(calls) == 2 else Came()
        calls.append(called)
        return (called_again or Came()) if len(calls) == 2 else Came()

    return ScriptedLab(passed=[passed("c")], script=script, interpreted=False)


async def test_an_answer_that_the_next_call_changes_is_suspect() -> None:
    ((finding,), report) = await observed(deferred.probe, after_the_next(Came(changed=1000)))
    assert (finding.severity, report.coverage) == (Severity.SUSPECT, Coverage.CHECKED)
    assert finding.message == (
        "the next call changed the answer of the one before, 1000 of 1000 elements of return are changed: "
        "return memory of its own each time"
    )


async def test_trouble_in_the_next_call_is_not_innocence() -> None:
    findings, report = await observed(deferred.probe, after_the_next(Came(), Came(trouble="it raised")))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "it raised")
