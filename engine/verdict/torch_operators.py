"""Findings on the operators of torch that a worker observed: work as large as the answer, which its kernels should do.

Using torch for memory, views, copies, casts, padding and small sums is honest and makes no finding.  How large the
answer is comes from the judge's results, what was called from the worker's reply, which is a claim.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine import protocol
from engine.model import Case, CaseResult, Finding, FrameworkWork, Location, Problem, Severity
from engine.model.counts import counted
from engine.protocol.monitoring import ADDRESSING, INTO, LOOKING_UP, PLACING, TABULATING
from engine.verdict.finding_words import listed, on_one_line, times

CHECK = "behaviour"

_LEAST_ELEMENTS = 64  # elements of inputs and outputs: in smaller cases helpers are as large as the answer
_CARRIED_OUT = "Tensor."
"""Prefix of ledger entries that took content out of torch; those of operators begin with a namespace."""
_PIECES = frozenset(
    f"aten::{name}" for name in ("cat", "stack", "copy_", "_foreach_copy_", "slice_scatter", "select_scatter")
)
_MADE_OF_NUMBERS = frozenset(
    {protocol.OperatorKind.ALLOCATION, protocol.OperatorKind.COPY, protocol.OperatorKind.LIGHT}
)
_MOST_PIECES = 16
_LOOKING_UP = frozenset(f"aten::{name}" for name in LOOKING_UP)
_ADDRESSING = frozenset(f"aten::{name}" for name in ADDRESSING | TABULATING)
_PLACING = frozenset(f"aten::{name}" for name in PLACING | TABULATING)
_ON_BITS = re.compile(r"aten::(?:__[lr]shift__|bitwise_|logical_)")
_SCAN = "aten::cumsum"
_POSITIONS = "aten::nonzero"
"""The operator that makes indices of a mask: it makes no answer with fractions either."""
_QUESTIONS = 8  # times all inputs and outputs: above the size of any mask
_HEAVY = 8  # operations for each element: beyond it, light work on all inputs prepares work of another kind


@dataclass(frozen=True, kw_only=True)
class _CaseSize:
    """Size of a case: elements of its largest output, of inputs and outputs together, and operations.

    `answers_bools` is whether every output is of bools, as that of a comparison, `answers_integers` whether one is of
    indices or other whole numbers, and `is_rearrangement` whether the answer consists of elements of the arguments.
    """

    largest_output: int
    total_elements: float
    operations: float
    has_arithmetic: bool
    has_fractions: bool
    answers_bools: bool = False
    answers_integers: bool = False
    is_rearrangement: bool = False


def operator_findings(
    problem: Problem,
    results: Iterable[CaseResult],
    seen: Sequence[protocol.OperatorSeen],
    *,
    proven: Collection[str] = frozenset(),
) -> Iterator[Finding]:
    """Findings on operators of torch in calls with these results; the cases `proven` are right by the kernels alone."""
    yield from _of_operators(_case_sizes(problem, results), seen, may_copy=_may_copy(problem), proven=proven)


def uncompared_findings(problem: Problem, case: Case, seen: Sequence[protocol.OperatorSeen]) -> Iterator[Finding]:
    """Findings on operators of torch in a call of this case whose outputs were not compared."""
    cost = problem.cost(case)
    written = round(cost.bytes_written / case.dtype.bytes)
    sizes = {case.name: _case_size(problem, case, largest_output=written)}
    yield from _of_operators(sizes, seen, may_copy=_may_copy(problem))


def _may_copy(problem: Problem) -> bool:
    return FrameworkWork.COPIES in problem.framework


def _case_sizes(problem: Problem, results: Iterable[CaseResult]) -> dict[str, _CaseSize]:
    size_by_case: dict[str, _CaseSize] = {}
    for result in results:
        totals = [output.total for output in result.outputs]
        foreign = 2.0 * sum(totals) if problem.suite is not None else None  # its inputs are unknown here
        case: Case = problem.case(result.case)
        size = _case_size(problem, case, largest_output=max(totals, default=0), moved=foreign)
        size_by_case[case.name] = replace(
            size, answers_bools=result.answers_bools, answers_integers=result.answers_integers
        )
    return size_by_case


def _case_size(problem: Problem, case: Case, *, largest_output: int, moved: float | None = None) -> _CaseSize:
    """Size of this case; `moved` elements are read and written, by its cost if nothing else is known."""
    cost = problem.cost(case)
    total_elements = (cost.bytes_read + cost.bytes_written) / case.dtype.bytes if moved is None else moved
    return _CaseSize(
        largest_output=largest_output,
        total_elements=total_elements,
        operations=cost.flops or total_elements,  # for operators that only look up, the number of elements
        has_arithmetic=cost.flops > 0 or problem.suite is not None,
        has_fractions=case.dtype.epsilon > 0,
        is_rearrangement=problem.rearrangement.is_certain,
    )


def _of_operators(
    sizes: Mapping[str, _CaseSize],
    seen: Sequence[protocol.OperatorSeen],
    *,
    may_copy: bool,
    proven: Collection[str] = frozenset(),
) -> Iterator[Finding]:
    """Findings on torch operators that made as much as the answer: from the inputs, or from a kernel's output.

    If the operator `may_copy`, an output of copied pieces is honest.  Arithmetic in a case that is `proven` is not part
    of its answer, which a replay without that arithmetic gave: it may be a check of the arguments.  Nor are numbers
    from outside torch, which were the same for other inputs: they may be a table of addresses and sizes.  Pieces were
    joined there in the same way for other inputs.
    """
    large = [one for one in seen if one.case in sizes and sizes[one.case].total_elements >= _LEAST_ELEMENTS]
    unproven = {case: size for case, size in sizes.items() if case not in proven}
    for what, which in (
        ("data as large as the output left torch, where other code can compute it", _took_out),
        ("data as large as the output came from outside torch", _brought_in),
        ("torch assembled the output from many pieces", _joined),
        ("torch evaluated more predicates than there are elements", _asked),
        ("computed by torch", _computed),
    ):
        found = [one for one in large if which(one, sizes[one.case]) and not (may_copy and which is _joined)]
        if which in (_computed, _brought_in, _joined):
            found = [one for one in found if one.case in unproven]
        if _is_preparation([one for one in found if _is_light_on_inputs(one)], sizes):
            found = [one for one in found if not _is_light_on_inputs(one)]
        if found and not _is_a_small_lookup(found, sizes):
            message = f"{what}: {_uses(found)}"
            yield _finding(Severity.SUSPECT, message, found)
    left = [
        one
        for one in large
        if _is_light_on_results(one) and one.case in unproven and not _makes_places(one, sizes[one.case])
    ]
    finished = [one for one in left if _is_comparable(one, sizes[one.case])]
    if finished:
        is_all = _is_whole_answer(left, unproven)
        what = (
            "torch did the arithmetic on the output of its kernels"
            if is_all
            else "torch finished the output of its kernels"
        )
        severity = Severity.SUSPECT if is_all else Severity.NOTE
        yield _finding(severity, f"{what}: {_uses(finished)}", finished)


def _finding(severity: Severity, message: str, found: Sequence[protocol.OperatorSeen]) -> Finding:
    where = next((Location(line=one.line) for one in found if one.line is not None), None)
    return Finding(check=CHECK, severity=severity, message=message, case=found[0].case, location=where)


def _took_out(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    return one.name.startswith(_CARRIED_OUT) and _is_comparable(one, size)


def _brought_in(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether half of an output came from Python or numpy, at once or element by element."""
    overwrites = one.name == "aten::fill_" or one.kind is protocol.OperatorKind.RANDOM  # whatever the content was
    is_of_numbers = overwrites or (one.kind in _MADE_OF_NUMBERS and not one.reads_inputs)
    is_single = is_of_numbers and one.uses >= _MOST_PIECES and 2 * one.uses >= one.total_out
    if one.integers and size.has_fractions and not size.answers_bools and one.total_out < _LEAST_ELEMENTS:
        return False  # sizes and strides
    return (one.name == "aten::lift_fresh" or is_single) and 2 * one.total_out >= size.largest_output


def _joined(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    is_copied_in = one.kind is protocol.OperatorKind.COPY and one.name.endswith(INTO)
    is_in_pieces = (one.name in _PIECES or is_copied_in) and one.uses >= _MOST_PIECES
    return is_in_pieces and one.reads_inputs and _is_comparable(one, size)


def _asked(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    return one.kind is protocol.OperatorKind.QUESTION and one.total_out >= _QUESTIONS * size.total_elements


def _computed(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    if _makes_places(one, size):
        return False
    if one.name.startswith(_CARRIED_OUT) or _is_of_a_table(one, size):
        return False
    if one.kind is protocol.OperatorKind.QUESTION:
        return size.answers_bools and one.reads_inputs and _is_comparable(one, size)
    if one.kind is protocol.OperatorKind.COMPUTE:
        return _is_comparable(one, size) or _reduces_all(one, size)
    is_reduced = one.total_in >= 2 * one.total_out and _reduces_all(one, size)
    is_much = _is_comparable(one, size) or is_reduced
    return _is_light_on_inputs(one) and is_much and _HEAVY * max(one.total_in, one.total_out) >= size.operations


def _makes_places(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it made addresses, in a case whose answer has fractions: integers may be the elements of any other.

    More integers than there are elements can be products and sums of elements, except in bits, or a rearrangement.
    What came of indices and masks alone holds no elements of the other arguments, whatever their type.  Running sums of
    integers that kernels wrote, such as counts, make no rearrangement of integers either.
    """
    if (
        one.name == _SCAN
        and size.is_rearrangement
        and not size.has_arithmetic
        and one.integers
        and not one.reads_inputs
    ):
        return True
    if one.positions and size.is_rearrangement:
        return one.name in _PLACING or one.name == _POSITIONS
    if not size.has_fractions or size.answers_bools or (size.answers_integers and not size.is_rearrangement):
        return False
    if one.name == _POSITIONS:
        return True
    if not size.is_rearrangement and one.total_out > size.total_elements and _ON_BITS.match(one.name) is None:
        return False
    return one.integers and one.name in (_PLACING if size.is_rearrangement else _ADDRESSING)


def _reduces_all(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it reduced all inputs to one number for each row; a single number may be a check of the arguments.

    This also covers inputs that a kernel has copied or scaled before.
    """
    return one.total_out > one.uses and 4 * one.total_in >= size.total_elements


def _is_of_a_table(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it looked up fewer elements than the answer has, for arithmetic that has to follow."""
    return one.name in _LOOKING_UP and size.has_arithmetic and one.total_out < size.largest_output


def _is_a_small_lookup(found: Sequence[protocol.OperatorSeen], sizes: Mapping[str, _CaseSize]) -> bool:
    """Whether this is a table look-up for a kernel's arithmetic, in a tiny case in which it has the answer's size."""
    is_in_one = len({one.case for one in found}) == 1
    return is_in_one and all(one.name in _LOOKING_UP and sizes[one.case].has_arithmetic for one in found)


def _is_light_on_results(one: protocol.OperatorSeen) -> bool:
    """Whether it is light work on what kernels or other operators made."""
    return one.kind is protocol.OperatorKind.LIGHT and not one.reads_inputs


def _is_whole_answer(left: Sequence[protocol.OperatorSeen], sizes: Mapping[str, _CaseSize]) -> bool:
    """Whether this was half of the operator's arithmetic in at least two cases and a quarter of those compared."""
    work = Counter[str]()
    for one in left:
        work[one.case] += max(one.total_in, one.total_out)
    asking = [case for case, size in sizes.items() if size.operations and size.total_elements >= _LEAST_ELEMENTS]
    done = [case for case in asking if 2 * work[case] >= sizes[case].operations]
    return len(done) > 1 and 4 * len(done) >= len(asking)


def _is_preparation(light: Sequence[protocol.OperatorSeen], sizes: Mapping[str, _CaseSize]) -> bool:
    """Whether light work on inputs is little of an operator that is heavy in most cases, as of products of matrices.

    It is as much as the work of a few cases, such as products with a single row.
    """
    asking = [size for size in sizes.values() if size.operations and size.total_elements >= _LEAST_ELEMENTS]
    heavy = [size for size in asking if size.operations > _HEAVY * size.total_elements]
    return 2 * len(heavy) >= len(asking) > 4 * len({one.case for one in light})


def _is_comparable(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it made half as much as the largest output, of a quarter of all inputs and outputs."""
    if not size.largest_output:
        return False
    # Summed over all uses, so that computing row by row counts in full. One call of a case is recorded.
    return 2 * one.total_out >= size.largest_output and 4 * (one.total_in + one.total_out) >= size.total_elements


def _is_light_on_inputs(one: protocol.OperatorSeen) -> bool:
    return one.kind is protocol.OperatorKind.LIGHT and one.reads_inputs


def _uses(seen: Sequence[protocol.OperatorSeen]) -> str:
    uses_by_name: dict[str, int] = {}
    largest: dict[str, int] = {}
    for one in seen:
        name = on_one_line(one.name)
        uses_by_name[name] = uses_by_name.get(name, 0) + one.uses
        largest[name] = max(largest.get(name, 0), one.total_out)
    ordered = sorted(largest, key=lambda name: -largest[name])
    parts = [f"{name} {times(uses_by_name[name])}, up to {counted(largest[name], 'element')}" for name in ordered]
    return f"{listed(parts, '; ')} ({counted(len({one.case for one in seen}), 'case')})"
