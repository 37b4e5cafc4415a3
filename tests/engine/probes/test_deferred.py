"""Outputs that change after the return are suspect, those that stay are a fact; the calls are scripted here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import protocol
from engine.model import Severity
from engine.model.layers import Coverage, Fact
from engine.probes import deferred
from tests.engine.probes.scripted import Called, Came, ScriptedLab, observed, passed


def later(came: Came, at_return: Came | None = None) -> ScriptedLab:
    """A lab in which this is seen a while after the return."""

    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        return came if isinstance(called, protocol.RepeatOutputs) else at_return or Came()

    return ScriptedLab(passed=[passed("c")], script=script)


async def test_an_output_that_stays_is_a_fact() -> None:
    lab = later(Came())
    findings, report = await observed(deferred.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts == (Fact(name="c", value="none of 1,000 elements changed within 75 ms of the return"),)
    assert lab.repeated_outputs == [pytest.approx(0.075), 0.0]


@pytest.mark.parametrize(
    ("verified_s", "interpreted", "pause_s"),
    [((0.1, 0.1), True, 0.1), ((0.1,), True, 0.075), ((0.01, 0.01), True, 0.03), ((0.01,), False, 0.1)],
)
async def test_wait_is_shorter_in_the_interpreter(
    verified_s: tuple[float, ...], interpreted: bool, pause_s: float
) -> None:
    cases = zip([passed(f"c{number}") for number in range(len(verified_s))], verified_s, strict=True)
    taken = [replace(one, result=replace(one.result, elapsed_s=each_s)) for one, each_s in cases]
    lab = ScriptedLab(passed=taken, interpreted=interpreted)
    await observed(deferred.probe, lab)
    assert lab.repeated_outputs[0] == pytest.approx(pause_s)


async def test_arguments_that_the_entry_writes_are_watched() -> None:
    lab = later(Came())
    await observed(deferred.probe, lab)
    assert [(call.fresh, call.watch) for call in lab.called] == [
        (True, protocol.Watch(positions=(0,))),
        *[(True, None)] * 4,
    ]


async def test_an_output_that_is_spoiled_later_is_suspect() -> None:
    ((finding,), report) = await observed(deferred.probe, later(Came(wrong=3, changed=3)))
    assert (finding.severity, finding.check, finding.case) == (Severity.SUSPECT, "deferred", "c")
    assert finding.message == (
        "the output changed after the call had returned: 3 of 1,000 elements of return are changed; "
        "it was correct when the call returned and is wrong now"
    )
    assert report.coverage is Coverage.CHECKED


async def test_output_arriving_later_is_suspect() -> None:
    ((finding,), _) = await observed(deferred.probe, later(Came(changed=1000), at_return=Came(wrong=1000)))
    assert finding.message.endswith(
        "1,000 of 1,000 elements of return are changed; it was not ready when the call returned"
    )


async def test_change_between_right_outputs_is_suspect() -> None:
    ((finding,), _) = await observed(deferred.probe, later(Came(changed=1)))
    assert finding.message.endswith("1 of 1,000 elements of return are changed")


async def test_trouble_during_or_after_call_is_not_checked() -> None:
    for lab in (later(Came(), at_return=Came(trouble="no answer")), later(Came(trouble="no answer"))):
        findings, report = await observed(deferred.probe, lab)
        assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "no answer")


async def test_no_passed_case_is_not_checked() -> None:
    findings, report = await observed(deferred.probe, ScriptedLab(passed=[]))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "no case passed")


async def test_smallest_and_on_device_largest_case_are_called() -> None:
    cases = [passed("large", size=9), passed("few", elements=5), passed("small", size=2), passed("middle", size=5)]
    for interpreted, expected in ((True, ["small"]), (False, ["small", "large"])):
        lab = ScriptedLab(passed=cases, interpreted=interpreted)
        await observed(deferred.probe, lab)
        assert list(dict.fromkeys(call.case for call in lab.called)) == expected


def after_others(came: Came, called_again: Came | None = None) -> ScriptedLab:
    """A lab in which this is seen of an answer when other calls were made after it."""
    calls: list[Called] = []

    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        if isinstance(called, protocol.RepeatOutputs):
            return came if len(calls) > 1 and not called.pause_s else Came()
        calls.append(called)
        return (called_again or Came()) if len(calls) > 1 else Came()

    return ScriptedLab(passed=[passed("c")], script=script)


async def test_output_changed_by_later_call_is_suspect() -> None:
    ((finding,), report) = await observed(deferred.probe, after_others(Came(changed=1000)))
    assert (finding.severity, report.coverage) == (Severity.SUSPECT, Coverage.CHECKED)
    assert finding.message == (
        "a later call changed an output that was already returned, 1,000 of 1,000 elements of return are changed: "
        "return new memory each time"
    )


async def test_slow_thread_is_not_mistaken_for_later_call() -> None:
    output_repeater: list[protocol.RepeatOutputs] = []

    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        if not isinstance(called, protocol.RepeatOutputs):
            return Came()
        output_repeater.append(called)
        return Came(wrong=3, changed=3) if len(output_repeater) > 1 else Came()

    lab = ScriptedLab(passed=[passed("c")], script=script)
    ((finding,), report) = await observed(deferred.probe, lab)
    assert [call.watch is not None for call in lab.called] == [True, False, False, False, False, True]
    assert finding.message == (
        "the output changed after the call had returned: 3 of 1,000 elements of return are changed; "
        "it was correct when the call returned and is wrong now"
    )
    assert report.facts[0].value.startswith("3 of 1,000 elements of return are changed within ")


async def test_failed_later_call_is_not_checked() -> None:
    findings, report = await observed(deferred.probe, after_others(Came(), Came(trouble="it raised")))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "it raised")


async def test_large_case_is_called_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "is_large", lambda *_: True)
    lab = ScriptedLab(passed=[passed("c", (4,))])
    await observed(deferred.probe, lab)
    assert len(lab.called) == 2
