"""Findings on the effects that a worker observed of its candidate: a pure function from one reply.

The reply is a claim: a finding reports what was observed; no finding reports that something was not done.  Using torch
for memory, views, copies, casts, padding and small sums is honest and makes no finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine import protocol
from engine.model import Case, CaseResult, Determinism, Finding, FrameworkWork, Location, Problem, Severity
from engine.model.counts import counted
from engine.model.layers import Fact
from engine.protocol.monitoring import ADDRESSING, INTO, LOOKING_UP, PLACING, TABULATING

CHECK = "behaviour"

_MOST_NAMED = 4
_LEAST_ELEMENTS = 64  # elements of inputs and outputs: in smaller cases helpers are as large as the answer
_LIBRARIES = re.compile(
    r"cublas|cudnn|cufft|cusolver|cusparse|cutlass|nvrtc|hipblas|rocblas|miopen|blas|lapack|dnnl|libmkl|libtorch",
    re.IGNORECASE,
)
_SYMBOLS = re.compile(
    r"gemm|gemv|cblas|lapacke?_|dnnl_|mkl_|cudnn|_ZN2at|at_\w+_out|cu(Module|Library)Load", re.IGNORECASE
)
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
_POSITIONS = "aten::nonzero"
"""The operator that makes indices of a mask: it makes no answer with fractions either."""
_QUESTIONS = 8  # times all inputs and outputs: above the size of any mask
_HEAVY = 8  # operations for each element: beyond it, light work on all inputs prepares work of another kind
_TAMPERING = re.compile(r"dlsym (?:mprotect|pkey_mprotect|ptrace|process_vm_\w+|cudaDeviceSetLimit|cuCtxSetLimit)")
_FILES = frozenset({protocol.ActionKind.FILE_READ, protocol.ActionKind.FILE_WRITTEN})
_TOOLS = re.compile(
    r"subprocess (?:\S*/)?(?:nvidia-smi|rocm-smi|rocminfo|ldconfig|lscpu|uname|nvcc|ptxas|gcc|cc|ld|objdump)(?: .*)?"
)
_TEXT_CHECK = "runs_text"
"""The static check that reports calls of exec, eval and compile."""
_ACTION_WORDS = {
    protocol.ActionKind.SOCKET: (Severity.SUSPECT, "used sockets"),
    protocol.ActionKind.PROCESS: (Severity.SUSPECT, "started or signalled processes"),
    protocol.ActionKind.FRAMES: (Severity.SUSPECT, "inspected the caller's frames"),
    protocol.ActionKind.OBJECTS: (Severity.SUSPECT, "searched all live objects"),
    protocol.ActionKind.EXEC: (Severity.HINT, "executed code generated at run time"),
    protocol.ActionKind.LIBRARY: (Severity.HINT, "opened native libraries"),
    protocol.ActionKind.MEMORY: (Severity.HINT, "read memory by address"),
    protocol.ActionKind.FILE_READ: (Severity.HINT, "read files outside its own folder"),
    protocol.ActionKind.FILE_WRITTEN: (Severity.HINT, "wrote files outside its own folder"),
    protocol.ActionKind.IMPORT: (Severity.NOTE, "imported libraries that compute"),
}
_CHANGES = {
    protocol.ChangeKind.FUNCTION: (Severity.SUSPECT, "replaced functions of other modules"),
    protocol.ChangeKind.TENSOR_THREAD: (Severity.SUSPECT, "threads that reference tensors were left running"),
    protocol.ChangeKind.BUSY_THREAD: (Severity.SUSPECT, "busy threads were left running"),
    protocol.ChangeKind.PRELOADING: (Severity.SUSPECT, "preloaded libraries"),
    protocol.ChangeKind.PROCESS: (Severity.SUSPECT, "processes were left running"),
    protocol.ChangeKind.SETTING: (Severity.HINT, "changed process-wide settings"),
    protocol.ChangeKind.THREAD: (Severity.NOTE, "threads were left running"),
    protocol.ChangeKind.RANDOM_STATE: (Severity.NOTE, "used or seeded torch's random state"),
}


@dataclass(frozen=True, kw_only=True)
class _CaseSize:
    """Size of a case: elements of its largest output, of inputs and outputs together, and operations.

    `answers_bools` is whether every output is of bools, as that of a comparison, and `is_rearrangement` whether the
    answer consists of elements of the arguments.
    """

    largest_output: int
    whole: float
    operations: float
    has_arithmetic: bool
    has_fractions: bool
    answers_bools: bool = False
    is_rearrangement: bool = False


def findings(
    problem: Problem,
    results: Iterable[CaseResult],
    observed: protocol.Observed,
    *,
    proven: Collection[str] = frozenset(),
    reported: Iterable[Finding] = (),
) -> Iterator[Finding]:
    """Findings of the reply on a candidate with these results; the cases `proven` are right by its kernels alone.

    Code made at run time is left out where a finding on the text, in `reported`, names the same line.
    """
    may_copy = FrameworkWork.COPIES in problem.framework
    yield from _of_operators(_case_sizes(problem, results), observed.operators, may_copy=may_copy, proven=proven)
    read = {one.location.line for one in reported if one.check == _TEXT_CHECK and one.location is not None}
    yield from _of_actions(
        [one for one in observed.actions if one.kind is not protocol.ActionKind.EXEC or one.line not in read]
    )
    draws = problem.determinism is Determinism.RANDOM  # a random operator may use the random state
    yield from _of_changes(
        [one for one in observed.changes if not (draws and one.kind is protocol.ChangeKind.RANDOM_STATE)]
    )


def operator_findings(problem: Problem, case: Case, observed: protocol.Observed) -> Iterator[Finding]:
    """Findings on the operators of torch in a call of this case whose outputs were not compared."""
    cost = problem.cost(case)
    written = round(cost.bytes_written / case.dtype.bytes)
    sizes = {case.name: _case_size(problem, case, largest_output=written)}
    yield from _of_operators(sizes, observed.operators, may_copy=FrameworkWork.COPIES in problem.framework)


def facts(observed: protocol.Observed) -> tuple[Fact, ...]:
    """Observed effects in numbers, significant or not."""
    uses = Counter[str]()
    for operator in observed.operators:
        uses[operator.kind.value] += operator.uses
    used = ", ".join(f"{count} {kind}" for kind, count in uses.most_common())
    actions = Counter(action.kind.value.replace("_", " ") for action in observed.actions)
    changes = Counter(change.kind.value.replace("_", " ") for change in observed.changes)
    return (
        Fact(name="operators of torch", value=used or "none in the recorded calls"),
        Fact(name="side effects", value=", ".join(f"{count} {kind}" for kind, count in actions.items()) or "none"),
        Fact(
            name="state left changed",
            value=", ".join(f"{count} {kind}" for kind, count in changes.items()) or "nothing",
        ),
    )


def _case_sizes(problem: Problem, results: Iterable[CaseResult]) -> dict[str, _CaseSize]:
    size_by_case: dict[str, _CaseSize] = {}
    for result in results:
        totals = [output.total for output in result.outputs]
        foreign = 2.0 * sum(totals) if problem.suite is not None else None  # its inputs are unknown here
        case: Case = problem.case(result.case)
        size = _case_size(problem, case, largest_output=max(totals, default=0), moved=foreign)
        size_by_case[case.name] = replace(size, answers_bools=result.answers_bools)
    return size_by_case


def _case_size(problem: Problem, case: Case, *, largest_output: int, moved: float | None = None) -> _CaseSize:
    """Size of this case; `moved` elements are read and written, by its cost if nothing else is known."""
    cost = problem.cost(case)
    whole = (cost.bytes_read + cost.bytes_written) / case.dtype.bytes if moved is None else moved
    return _CaseSize(
        largest_output=largest_output,
        whole=whole,
        operations=cost.flops or whole,  # for operators that only look up, the number of elements
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
    from outside torch, which were the same for other inputs: they may be a table of addresses and sizes.
    """
    large = [one for one in seen if one.case in sizes and sizes[one.case].whole >= _LEAST_ELEMENTS]
    unproven = {case: size for case, size in sizes.items() if case not in proven}
    for what, which in (
        ("data as large as the output left torch, where other code can compute it", _took_out),
        ("data as large as the output came from outside torch", _brought_in),
        ("torch assembled the output from many pieces", _joined),
        ("torch evaluated more predicates than there are elements", _asked),
        ("computed by torch", _computed),
    ):
        found = [one for one in large if which(one, sizes[one.case]) and not (may_copy and which is _joined)]
        if which in (_computed, _brought_in):
            found = [one for one in found if one.case in unproven]
        if _is_preparation([one for one in found if _is_light_on_inputs(one)], sizes):
            found = [one for one in found if not _is_light_on_inputs(one)]
        if found and not _is_a_small_lookup(found, sizes):
            message = f"{what}: {_uses(found)}"
            yield Finding(check=CHECK, severity=Severity.SUSPECT, message=message, case=found[0].case)
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
        yield Finding(check=CHECK, severity=severity, message=f"{what}: {_uses(finished)}", case=finished[0].case)


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
    return one.kind is protocol.OperatorKind.QUESTION and one.total_out >= _QUESTIONS * size.whole


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
    """
    if not size.has_fractions or size.answers_bools:
        return False
    if one.name == _POSITIONS:
        return True
    if not size.is_rearrangement and one.total_out > size.whole and _ON_BITS.match(one.name) is None:
        return False
    return one.integers and one.name in (_PLACING if size.is_rearrangement else _ADDRESSING)


def _reduces_all(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it reduced all inputs to one number for each row; a single number may be a check of the arguments.

    This also covers inputs that a kernel has copied or scaled before.
    """
    return one.total_out > one.uses and 4 * one.total_in >= size.whole


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
    asking = [case for case, size in sizes.items() if size.operations and size.whole >= _LEAST_ELEMENTS]
    done = [case for case in asking if 2 * work[case] >= sizes[case].operations]
    return len(done) > 1 and 4 * len(done) >= len(asking)


def _is_preparation(light: Sequence[protocol.OperatorSeen], sizes: Mapping[str, _CaseSize]) -> bool:
    """Whether light work on inputs is little of an operator that is heavy in most cases, as of products of matrices.

    It is as much as the work of a few cases, such as products with a single row.
    """
    asking = [size for size in sizes.values() if size.operations and size.whole >= _LEAST_ELEMENTS]
    heavy = [size for size in asking if size.operations > _HEAVY * size.whole]
    return 2 * len(heavy) >= len(asking) > 4 * len({one.case for one in light})


def _is_comparable(one: protocol.OperatorSeen, size: _CaseSize) -> bool:
    """Whether it made half as much as the largest output, of a quarter of all inputs and outputs."""
    if not size.largest_output:
        return False
    # Summed over all uses, so that computing row by row counts in full. One call of a case is recorded.
    return 2 * one.total_out >= size.largest_output and 4 * (one.total_in + one.total_out) >= size.whole


def _is_light_on_inputs(one: protocol.OperatorSeen) -> bool:
    return one.kind is protocol.OperatorKind.LIGHT and one.reads_inputs


def _uses(seen: Sequence[protocol.OperatorSeen]) -> str:
    times: dict[str, int] = {}
    largest: dict[str, int] = {}
    for one in seen:
        name = _plain(one.name)
        times[name] = times.get(name, 0) + one.uses
        largest[name] = max(largest.get(name, 0), one.total_out)
    ordered = sorted(largest, key=lambda name: -largest[name])
    parts = [f"{name} {_count(times[name])}, up to {counted(largest[name], 'element')}" for name in ordered]
    return f"{_listed(parts, '; ')} ({counted(len({one.case for one in seen}), 'case')})"


def _of_actions(actions: Sequence[protocol.ActionSeen]) -> Iterator[Finding]:
    groups: dict[tuple[Severity, str], list[protocol.ActionSeen]] = {}
    for action in actions:
        severity, what = _ACTION_WORDS[action.kind]
        groups.setdefault((_severity(action, severity), what), []).append(action)
    for (severity, what), group in groups.items():
        parts = [f"{_plain(one.detail)} {'while loading' if one.loading else _count(one.times)}" for one in group]
        line = next((one.line for one in group if one.line is not None), None)
        yield Finding(
            check=CHECK,
            severity=severity,
            message=f"{what}: {_listed(parts)}",
            location=Location(line=line) if line is not None else None,
        )


def _severity(action: protocol.ActionSeen, usual: Severity) -> Severity:
    if action.kind is protocol.ActionKind.PROCESS and _TOOLS.fullmatch(action.detail):
        return Severity.NOTE  # a tool that queries the device
    if action.kind is protocol.ActionKind.LIBRARY and _computes(action.detail):
        return Severity.SUSPECT
    if action.kind is protocol.ActionKind.FILE_WRITTEN and action.detail.startswith("in the compiler's cache"):
        return Severity.SUSPECT
    if action.kind is protocol.ActionKind.LIBRARY and _TAMPERING.fullmatch(action.detail):
        return Severity.SUSPECT  # access to other processes' memory, writable code, changed cache limits
    if action.kind is protocol.ActionKind.FILE_READ and action.detail.startswith("/proc/"):
        return Severity.SUSPECT
    if action.kind in _FILES and f"{action.detail}/".startswith("/dev/shm/"):
        return Severity.SUSPECT  # shared memory, readable by other processes
    return usual


def _computes(opened: str) -> bool:
    """Whether a library that can compute in place of a kernel was opened, or such a symbol was looked up."""
    how, _, name = opened.partition(" ")
    if how == "dlsym":
        return _SYMBOLS.search(name) is not None
    return name.startswith("of its own") or _LIBRARIES.search(name.rpartition("/")[2]) is not None


def _of_changes(changes: Sequence[protocol.ChangeSeen]) -> Iterator[Finding]:
    groups: dict[protocol.ChangeKind, list[protocol.ChangeSeen]] = {}
    for change in changes:
        groups.setdefault(change.kind, []).append(change)
    for kind, group in groups.items():
        severity, what = _CHANGES[kind]
        parts = [f"{_plain(one.name)} ({_plain(one.detail)})" if one.detail else _plain(one.name) for one in group]
        yield Finding(check=CHECK, severity=severity, message=f"{what}: {_listed(parts)}")


def _count(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def _listed(parts: Sequence[str], between: str = ", ") -> str:
    left = len(parts) - _MOST_NAMED
    return between.join(parts[:_MOST_NAMED]) + (f"{between}and {left} more" if left > 0 else "")


def _plain(text: str) -> str:
    """Untrusted text on one line and without control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
