"""Who is right in one order only has a race, who waits has none, who counts calls is found; all scripted here."""

from __future__ import annotations

import pytest

from engine import protocol
from engine.model import Location, Severity
from engine.model.layers import Coverage, Fact
from engine.probes import repeats
from tests.engine.probes.scripted import Called, Came, Script, ScriptedLab, observed, passed


def when(came: Came, *, reordered: bool | None = None, fresh: bool | None = None, seeded: bool | None = None) -> Script:
    """A script in which this comes of the calls that are so, and a right answer of the others."""

    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        assert isinstance(called, Called)
        is_seeded = called.program_order is not None and called.program_order.seed is not None
        differs = (
            reordered not in (None, called.program_order is not None)
            or fresh not in (None, called.fresh)
            or seeded not in (None, is_seeded)
        )
        return Came() if differs else came

    return script


async def test_content_runs_in_three_orders_before_new() -> None:
    lab = ScriptedLab(passed=[passed("c", (4,))])
    findings, report = await observed(repeats.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert [(call.fresh, call.program_order and call.program_order.seed is None) for call in lab.called] == [
        (False, None),
        (False, True),
        (False, False),
        (True, None),
    ]
    assert report.facts == (
        Fact(name="calls", value="4 more, on the same input and finally on new input"),
        Fact(name="order", value="2 launches with their programs in another order"),
        Fact(name="bits", value="identical in every call on the same input"),
    )


async def test_wrong_backwards_is_a_race() -> None:
    script = when(Came(wrong=7, changed=7), reordered=True, seeded=False)
    ((finding,), report) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert (finding.severity, finding.check, finding.case) == (Severity.SUSPECT, "repeats", "c")
    assert finding.message == (
        "race: correct in one order only; wrong with the programs of each grid run backwards: "
        "7 of 1,000 elements of return are wrong"
    )
    assert report.coverage is Coverage.CHECKED


async def test_race_names_both_conflicting_programs() -> None:
    reads, writes = (
        protocol.Access(stores=False, program=(1, 0, 0), line=9),
        protocol.Access(stores=True, program=(0, 0, 0), line=7),
    )

    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        assert isinstance(called, Called)
        if called.program_order is None or called.program_order.seed is not None:
            return Came()
        met = protocol.Race(kernel="k", tensor="y", index=16, first=reads, second=writes)
        return Came(wrong=7, race=met if called.program_order.witness else None)

    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert finding.location == Location(line=7)
    assert finding.message == (
        "race: correct in one order only; wrong with the programs of each grid run backwards: "
        "7 of 1,000 elements of return are wrong; in k program (1, 0, 0) loads y[16] at line 9, "
        "and program (0, 0, 0) stores it at line 7"
    )


async def test_a_race_without_a_witness_has_no_line() -> None:
    script = when(Came(wrong=7), reordered=True, seeded=False)
    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert (finding.location, "race: " in finding.message) == (None, True)


async def test_wrong_when_shuffled_is_a_race_too() -> None:
    script = when(Came(wrong=7), seeded=True)
    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert "with the programs of each grid run in random order: 7 of 1,000" in finding.message


async def test_other_bits_within_tolerance_are_a_fact() -> None:
    script = when(Came(changed=12), seeded=True)
    findings, report = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert findings == []
    value = "12 of 1,000 elements of return are changed, all within tolerance, in another call on the same input"
    assert report.facts[-1] == Fact(name="c", value=value)


async def test_endless_call_in_other_order_gives_no_finding() -> None:
    script = when(Came(trouble="did not reply", silent=True), reordered=True)
    lab = ScriptedLab(passed=[passed("c", (4,)), passed("d", (1, 4), size=2)], script=script)
    findings, report = await observed(repeats.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert [(call.case, call.fresh, call.program_order is None) for call in lab.called] == [
        ("c", False, True),
        ("c", False, False),
        ("c", False, True),
        ("c", True, True),
        ("d", False, True),
        ("d", True, True),
    ]
    why = "inconclusive: a call of c in another order did not end: its programs appear to wait for each other"
    assert report.facts[1] == Fact(name="order", value=why)


async def test_wrong_content_found_after_hang_in_other_order() -> None:
    def script(called: Called | protocol.RepeatOutputs, _: int) -> Came:
        assert isinstance(called, Called)
        if called.program_order is not None:
            return Came(trouble="did not reply", silent=True)
        return Came(wrong=1 if called.fresh else 0)

    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert finding.message.startswith("correct in the first calls, wrong on new content")


async def test_failing_call_in_other_order_is_not_checked() -> None:
    script = when(Came(trouble="ArithmeticError"), reordered=True)
    findings, report = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert (findings, report.coverage) == ([], Coverage.NOT_CHECKED)
    assert report.why == "called again in another order of its programs in c: ArithmeticError"


async def test_endless_plain_call_is_not_checked() -> None:
    script = when(Came(trouble="did not reply", silent=True), reordered=False)
    findings, report = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "called again in c: did not reply")


async def test_wrong_in_the_first_call_again_is_found() -> None:
    script = when(Came(wrong=1000), reordered=False)
    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert finding.message.startswith("correct when verified, wrong in a later call: 1,000 of 1,000 elements")


async def test_wrong_output_on_new_content_is_found() -> None:
    script = when(Came(wrong=1000), fresh=True)
    ((finding,), _) = await observed(repeats.probe, ScriptedLab(passed=[passed("c", (4,))], script=script))
    assert finding.message.startswith("correct in the first calls, wrong on new content after 3 more: 1,000 of 1,000")


async def test_calls_repeat_beside_other_work_on_a_device() -> None:
    script = when(Came(wrong=2, changed=2), seeded=True)
    lab = ScriptedLab(passed=[passed("c", (4,))], interpreted=False)
    findings, _ = await observed(repeats.probe, lab)
    assert findings == []
    seeds = [call.program_order.seed for call in lab.called if call.program_order is not None]
    assert len(seeds) == len(set(seeds)) == 8
    assert None not in seeds
    lab = ScriptedLab(passed=[passed("c", (4,))], interpreted=False, script=script)
    ((finding,), _) = await observed(repeats.probe, lab)
    race = "race: the output for the same input is correct alone and wrong with concurrent work: 2"
    assert finding.message.startswith(race)


async def test_cases_are_smallest_covering_every_axis() -> None:
    cases = [
        passed("wide", (1, 3), size=5),
        passed("one", (1, 1), size=1),
        passed("tall", (2, 1), size=3),
        passed("both", (2, 3), size=90),
        passed("deep", (1, 1, 2), size=7),
    ]
    lab = ScriptedLab(passed=cases)
    await observed(repeats.probe, lab)
    assert list(dict.fromkeys(call.case for call in lab.called)) == ["tall", "wide", "deep"]


async def test_smallest_case_with_one_program_is_repeated() -> None:
    lab = ScriptedLab(passed=[passed("c", (1,), size=20), passed("d", (1,), size=1)])
    await observed(repeats.probe, lab)
    assert {call.case for call in lab.called} == {"d"}


async def test_larger_case_with_more_programs_is_called() -> None:
    cases = [
        passed("small", (2,), calls=5),
        passed("large", size=16),
        passed("medium", size=9),
        passed("huge", size=17),
    ]
    lab = ScriptedLab(passed=cases)
    _, report = await observed(repeats.probe, lab)
    assert list(dict.fromkeys(call.case for call in lab.called)) == ["small", "large"]
    assert "left out" not in [fact.name for fact in report.facts]


async def test_larger_case_after_few_verified_calls_is_skipped() -> None:
    lab = ScriptedLab(passed=[passed("small", (2,), calls=10), passed("large", size=16)])
    _, report = await observed(repeats.probe, lab)
    assert {call.case for call in lab.called} == {"small"}
    assert report.facts[2] == Fact(name="left out", value="large: only a few calls were verified")


async def test_grids_of_one_program_need_no_second_order() -> None:
    lab = ScriptedLab(passed=[passed("c", (1,))], ordered=True)
    findings, report = await observed(repeats.probe, lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert [(call.fresh, call.program_order is None) for call in lab.called] == [
        (False, True),
        (False, False),
        (True, True),
    ]
    assert report.facts[1] == Fact(name="order", value="no launch has programs whose order can change")


async def test_case_writing_nothing_is_replaced_by_next() -> None:
    cases = [passed(name, *grids, size=size) for name, grids, size in (("a", [(4,)], 1), ("b", [], 2), ("c", [], 3))]
    lab = ScriptedLab(passed=cases, idle=frozenset("ab"))
    _, report = await observed(repeats.probe, lab)
    assert {call.case for call in lab.called} == {"c"}
    assert report.coverage is Coverage.CHECKED


async def test_no_passed_case_is_not_checked() -> None:
    _, report = await observed(repeats.probe, ScriptedLab(passed=[]))
    assert (report.coverage, report.why) == (Coverage.NOT_CHECKED, "no case passed")


async def test_large_case_is_repeated_less_on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "is_large", lambda *_: True)
    lab = ScriptedLab(passed=[passed("c", (4,))], interpreted=False)
    await observed(repeats.probe, lab)
    assert len(lab.called) == 4
