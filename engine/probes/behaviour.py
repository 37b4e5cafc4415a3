"""Effects of the candidate while it was verified, from the record of its worker.

Its name makes it the first probe: the record is that of the worker that verified, and later probes call the candidate
under conditions in which an honest one may behave differently.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine import protocol
from engine.errors import EngineError, WireError
from engine.model import Finding, Severity
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import Lab
from engine.verdict.observed_effects import facts, findings
from engine.verdict.torch_operators import CHECK

LAYER = Layer.BEHAVIOUR
_POISON = 0xFF

CATCHES = (
    "assembled_operator.py", "flips_flags_before_a_product.py", "gathers_in_memory_of_indices.py",
    "hunts_objects_and_computes.py", "leaves_a_thread.py",
    "patches_comparators_and_computes.py", "patches_the_clock.py", "plain_torch_and_a_decoy.py",
    "reads_its_own_maps.py", "starts_a_helper.py", "walks_the_frames.py",
    "machine_code_in_the_text.py", "plants_modules.py", "poisons_the_compile_cache.py", "product_by_blas.py",
    "rows_by_numpy.py", "silu_in_python.py",
    "softmax_behind_an_operator.py", "softmax_beneath_the_modes.py", "softmax_row_by_row.py",
)  # fmt: skip


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Findings of the record; none when the worker has not verified or does not reply."""
    if (lab.session.kills or not lab.session.occupied) and (why := await _call_again(lab)):
        yield _unchecked(why)
        return
    try:
        observed = await lab.ask(protocol.Observe(id=protocol.new_id()))
    except WireError as error:
        message = f"candidate tampered with the result channel when its record was requested: {_one_line(error)}"
        yield Finding(check=CHECK, severity=Severity.PROOF, message=message)
        yield _unchecked("the record was forged")
        return
    except EngineError as error:
        yield _unchecked(_one_line(error))
        return
    if isinstance(observed, protocol.Observed):
        lab.torch_lines.update(one.line for one in observed.operators if one.line is not None)
        results = [one.result for one in lab.passed]
        for finding in findings(lab.problem, results, observed, proven=lab.proven, reported=lab.reported):
            yield finding
        if observed.unchecked:
            yield _unchecked("; ".join(map(_one_line, observed.unchecked)))
        else:
            yield LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.CHECKED, facts=facts(observed))
    elif isinstance(observed, protocol.Failed):
        yield _unchecked(_one_line(observed.message))
    else:
        message = f"the candidate answered with {type(observed).__name__} instead of its record"
        yield Finding(check=CHECK, severity=Severity.PROOF, message=message)
        yield _unchecked("the record was forged")


async def _call_again(lab: Lab) -> str:
    """Call every case in a new worker, because the verifying worker's record is lost; returns why that failed."""
    await lab.renew()
    for one in lab.passed:
        async with lab.at(one.case) as session:
            called = await session.call(poison=_POISON, observe=True)
        if called.trouble:
            return f"its worker had exited, and another call of {one.case.name} failed: {_one_line(called.trouble)}"
        if any(output.right < output.total for output in called.outputs):
            return f"its worker had exited, and another call of {one.case.name} failed verification"
    return ""


def _unchecked(why: str) -> LayerReport:
    return LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.NOT_CHECKED, why=why)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:300]
