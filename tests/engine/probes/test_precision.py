"""An error nearer to the lowered answer than to the honest one is suspect, twice over; the errors are scripted here."""

from __future__ import annotations

import pytest

from engine import protocol
from engine.model import DType, Severity
from engine.model.layers import Coverage, Fact
from engine.probes import precision
from tests.engine.probes.scripted import Came, ScriptedLab, observed, passed


def output_precision(got: float, honest: float = 2e-7, lowered: float = 4e-4) -> tuple[protocol.OutputPrecision, ...]:
    return (protocol.OutputPrecision(name="return", precision="tf32", got=got, honest=honest, lowered=lowered),)


def lab_of(*precisions: tuple[protocol.OutputPrecision, ...], dtype: DType = DType.FLOAT32) -> ScriptedLab:
    return ScriptedLab(passed=[passed("c", dtype=dtype)], precisions=list(precisions))


async def test_expected_error_is_a_fact() -> None:
    findings, report = await observed(precision.probe, lab_of(output_precision(3e-7)))
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    value = "error 3e-07, reference 2e-07, with tf32 0.0004: limit 3.2e-06"
    assert report.facts == (Fact(name="c, return", value=value),)


async def test_error_beyond_limit_on_two_contents_is_suspect() -> None:
    ((finding,), report) = await observed(precision.probe, lab_of(output_precision(2e-5), output_precision(3e-5)))
    assert (finding.severity, finding.check, finding.case) == (Severity.SUSPECT, "precision", "c")
    assert finding.message == (
        "within tolerance, but less precise than float32: the error of return is 3e-05, reference "
        "2e-07, with tf32 0.0004, against float64"
    )
    assert report.coverage is Coverage.CHECKED


async def test_single_error_above_limit_is_no_finding() -> None:
    lab = lab_of(output_precision(2e-5), output_precision(3e-7))
    assert (await observed(precision.probe, lab))[0] == []
    assert len(lab.called) == 2


async def test_every_call_is_on_new_content() -> None:
    lab = lab_of(output_precision(2e-5), output_precision(2e-5))
    await observed(precision.probe, lab)
    assert [call.fresh for call in lab.called] == [True, True]


@pytest.mark.parametrize(
    ("honest", "lowered", "just_below", "just_above"),
    [
        (1e-6, 1e-4, 9.9e-6, 1.1e-5),  # the mean on a logarithmic scale
        (2e-7, 4e-2, 3.1e-6, 3.3e-6),  # far apart: no more than sixteen times the honest error
        (0.0, 4e-4, 1.8e-6, 2.0e-6),  # an exact answer may be luck: one unit of float32 at least
    ],
)
async def test_limit_is_between_expected_and_lowered_error(
    honest: float, lowered: float, just_below: float, just_above: float
) -> None:
    below, above = output_precision(just_below, honest, lowered), output_precision(just_above, honest, lowered)
    assert (await observed(precision.probe, lab_of(below)))[0] == []
    assert len((await observed(precision.probe, lab_of(above, above)))[0]) == 1


async def test_expected_and_lowered_error_too_close_give_nothing() -> None:
    findings, report = await observed(precision.probe, lab_of(output_precision(1.0, honest=1e-6, lowered=7e-6)))
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts[0].value.endswith("with tf32 7e-06: inconclusive")


async def test_unmeasurable_output_gives_no_finding() -> None:
    findings, report = await observed(precision.probe, lab_of((protocol.OutputPrecision(name="ids"),)))
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert report.facts == (Fact(name="precision", value="not applicable: no case with an inexact float type"),)


async def test_exact_problems_and_integers_are_not_called() -> None:
    lab = ScriptedLab(passed=[passed("exact", room=0), passed("whole", dtype=DType.INT32)])
    findings, report = await observed(precision.probe, lab)
    assert (findings, report.coverage, lab.called) == ([], Coverage.CHECKED, [])


async def test_a_call_that_fails_could_not_be_checked() -> None:
    lab = lab_of()
    lab.script = lambda called, number: Came(trouble="no answer")
    findings, report = await observed(precision.probe, lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "c: no answer")


async def test_unconfirmed_suspicion_is_not_checked() -> None:
    lab = lab_of(output_precision(2e-5))
    lab.script = lambda called, number: Came(trouble="no answer") if number else Came()
    findings, report = await observed(precision.probe, lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "c: no answer")


async def test_cases_are_smallest_with_most_tolerance() -> None:
    cases = [
        passed("a", room=1),
        passed("b", room=4, size=7),
        passed("c", room=4, size=5),
        passed("d", room=2),
        passed("e", room=3),
        passed("half", room=8, dtype=DType.FLOAT16),
        passed("bf", room=9, dtype=DType.BFLOAT16),
    ]
    lab = ScriptedLab(passed=cases, precisions=[output_precision(1e-7)] * 4)
    await observed(precision.probe, lab)
    assert [call.case for call in lab.called] == ["c", "e", "d", "bf"]


async def test_limited_calls_measure_one_float32_and_one_half() -> None:
    cases = [passed("a", room=1), passed("b", room=4), passed("half", room=8, dtype=DType.FLOAT16)]
    lab = ScriptedLab(passed=cases, precisions=[output_precision(1e-7)] * 2)
    await observed(precision.probe, lab)
    assert [call.case for call in lab.called] == ["b", "half"]
