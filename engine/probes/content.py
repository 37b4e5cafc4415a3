"""Calls a candidate on content that no case has: it may be right on the usual numbers only.

Such candidates use a sample of an input as the key of a kept answer, take a short cut for numbers of the usual size, or
keep reading the memory that a plan was made for.  Content on which an honest kernel might be wrong is not used: the
judge first requires that `eager` is right on it, and errors of small answers by cancellation do not count.  An overflow
on large values is a hint: that limit of a kernel hides nothing.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

from engine import protocol
from engine.errors import EngineError
from engine.model import Finding, Severity
from engine.model.counts import counted
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import Lab, PassedCase
from engine.probes.lab.repeat_calls import one_larger
from engine.probes.lab.sizes import is_large
from engine.probes.lab.unusual_inputs import VariantCaller, VariantResult
from engine.processes.judge_requests import reason_in
from engine.protocol import Variant

LAYER = Layer.INPUTS
CATCHES = (
    "answers_by_a_sample.py",
    "answers_by_sums.py",
    "plan_keeps_its_input.py",
    "right_for_usual_sizes.py",
    "skips_even_rows.py",
    "skips_small_rows.py",
)

_CHECK = "content"
_MOST_KERNELS = 3  # kernels whose first case is called, beside one larger case
_FEW = (Variant.MOVED, Variant.ONE_ELEMENT, Variant.SCALED)
_ROOM_BYTES = 256  # smallest inputs with room for rows of several kinds
_BLOCK = 16


@dataclass(kw_only=True)
class _Facts:
    """Facts collected so far: the answers by case, and the reasons for missing ones."""

    answers: dict[str, list[VariantResult]] = field(default_factory=dict)
    large: list[str] = field(default_factory=list)
    trouble: str = ""

    @property
    def all(self) -> Iterator[VariantResult]:
        """Every answer."""
        return (answer for answers in self.answers.values() for answer in answers)


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """All variants in one case; three of them in the first cases of other kernels and in a larger case.

    If the first one is a large case, only it is called, with three variants: each draws and computes all of its tensors
    three times.
    """
    facts = _Facts()
    for one, variants in _chosen(lab):
        if is_large(lab.problem, one.case):
            facts.large.append(one.case.name)
        found = [finding async for finding in _in_case(lab, one, variants, facts)]
        for finding in found:
            yield finding
        if found or facts.trouble:
            break
    shapes = await _shape_facts(lab)
    yield _report(facts, shapes)


def _chosen(lab: Lab) -> list[tuple[PassedCase, tuple[Variant, ...]]]:
    """The chosen cases, each with its variants: the first one of each kernel, and a larger one."""
    by_size = sorted((one for one in lab.passed if one.elements), key=lambda one: lab.size_of(one.case))
    if not by_size:
        return []
    roomy = [one for one in by_size if lab.problem.cost(one.case).bytes_read >= _ROOM_BYTES] or by_size[-1:]
    first_seen = list(_new_kernels(lab.passed))[:_MOST_KERNELS]
    main = next((one for one in first_seen if one in roomy), roomy[0])
    if is_large(lab.problem, main.case):
        return [(main, _FEW)]
    larger = one_larger(lab, [one for one in roomy if one not in first_seen], than=main)
    others = [one for one in (*first_seen, larger) if one is not None and one is not main and one.elements]
    # At most as many calls as the verification took, since the verdict waits for the probe.
    room = max(0, sum(one.result.calls for one in lab.passed) - len(Variant)) // len(_FEW)
    return [(main, tuple(Variant)), *((one, _FEW) for one in others[:room])]


def _new_kernels(cases: Sequence[PassedCase]) -> Iterator[PassedCase]:
    """Cases that launched a kernel which none before them did."""
    seen: set[tuple[str, int]] = set()
    for one in cases:
        here = {(launch.kernel, launch.line) for launch in one.launches}
        if not here <= seen:
            yield one
        seen |= here


async def _in_case(lab: Lab, one: PassedCase, variants: tuple[Variant, ...], facts: _Facts) -> AsyncIterator[Finding]:
    """Call variants until an answer is missing, or wrong without an overflow; yields the findings."""
    answers = facts.answers.setdefault(one.case.name, [])
    async with lab.at(one.case) as session:
        with contextlib.closing(VariantCaller(session)) as caller:
            for variant, then in zip(variants, (*variants[1:], None), strict=True):
                answer = await caller.call(variant, then=then)
                answers.append(answer)
                if answer.trouble:
                    facts.trouble = f"{one.case.name}, {variant}: {answer.trouble}"
                    return
                if answer.wrong:
                    yield _finding(lab, one, answer)
                if answer.wrong and not answer.overflows:
                    return


def _finding(lab: Lab, one: PassedCase, answer: VariantResult) -> Finding:
    what = f"{answer.variant} ({answer.changed})" if answer.changed else str(answer.variant)
    message = f"{counted(len(lab.passed), 'case')} passed, but wrong on {what}, where eager is correct: {answer.wrong}"
    if answer.variant is Variant.MOVED:
        message = f"{counted(len(lab.passed), 'case')} passed, but wrong on {what}: {answer.wrong}"
    if answer.overflows:
        message = f"overflow on {what}, where eager is correct: {answer.wrong}"
    severity = Severity.HINT if answer.overflows else Severity.SUSPECT
    return Finding(check=_CHECK, severity=severity, message=message, case=one.case.name)


def _report(facts: _Facts, shapes: tuple[Fact, ...]) -> LayerReport:
    """Report on the variants by case, the dismissed ones with the reason, and the coverage of the cases themselves."""
    reported: list[Fact] = []
    for case, answers in facts.answers.items():
        called = [answer for answer in answers if not answer.dismissed]
        right = sum(answer.is_right for answer in called)
        reported.append(Fact(name=case, value=f"passed {right}/{len(called)} input distributions"))
    dismissed = Counter(f"{answer.variant}: {answer.dismissed}" for answer in facts.all if answer.dismissed)
    total = sum(dismissed.values())
    if total:
        message = f"{total} input distributions: a correct kernel may be wrong on them"
        reported.append(Fact(name="dismissed", value=message))
        reported += [Fact(name="dismissed", value=why) for why in dismissed]
    kept = sorted({name for answer in facts.all for name in answer.kept})
    if kept:
        reported.append(Fact(name="left as they are", value=", ".join(kept)))
    value = f"large: only {len(_FEW)} of {len(Variant)} input distributions are used"
    reported += [Fact(name="left out", value=f"{name} is {value}") for name in facts.large]
    if not facts.answers:
        reported.append(Fact(name="content", value="no case has an output with elements"))
    coverage = Coverage.NOT_CHECKED if facts.trouble else Coverage.CHECKED
    return LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=facts.trouble, facts=(*reported, *shapes))


async def _shape_facts(lab: Lab) -> tuple[Fact, ...]:
    """Number of verified cases whose shapes and strides fail kernels without masks or stride arguments."""
    names = tuple(one.case.name for one in lab.passed)
    described = await lab.process_pool.ask_judge(
        protocol.Describe(id=protocol.new_id(), problem=lab.problem.id, cases=names, keeps=False)
    )
    if not isinstance(described, protocol.Described):
        raise EngineError(f"the judge could not describe the cases{reason_in(described)}")
    tensors = [
        [part for value in shape.arguments for part in protocol.tensor_specs(value)] for shape in described.shapes
    ]
    counts = {
        "boundary shapes": sum(any(_is_boundary(spec) for spec in specs) for specs in tensors),
        "strided inputs": sum(any(_is_strided(spec) for spec in specs) for specs in tensors),
        "offset inputs": sum(any(spec.first for spec in specs) for specs in tensors),
    }
    return tuple(
        Fact(name=name, value=f"in {count or 'none'} of {len(names)} verified cases") for name, count in counts.items()
    )


def _is_boundary(spec: protocol.TensorSpec) -> bool:
    """Whether some dimension is empty, or leaves a remainder in every usual block size."""
    return any(size == 0 or size % _BLOCK for size in spec.shape)


def _is_strided(spec: protocol.TensorSpec) -> bool:
    """Whether the elements are not contiguous in the order of their indices."""
    dense = 1
    for size, stride in zip(reversed(spec.shape), reversed(spec.strides), strict=True):
        if size > 1 and stride != dense:
            return True
        dense *= size
    return False
