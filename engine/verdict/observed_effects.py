"""Findings on the effects that a worker observed of its candidate: a pure function from one reply.

The reply is a claim: a finding reports what was observed; no finding reports that something was not done.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from engine import protocol
from engine.model import CaseResult, Determinism, Finding, Location, Problem, Severity
from engine.model.layers import Fact
from engine.verdict.finding_words import listed, on_one_line, times
from engine.verdict.torch_operators import CHECK, operator_findings

_LIBRARIES = re.compile(
    r"cublas|cudnn|cufft|cusolver|cusparse|cutlass|nvrtc|hipblas|rocblas|miopen|blas|lapack|dnnl|libmkl|libtorch",
    re.IGNORECASE,
)
_SYMBOLS = re.compile(
    r"gemm|gemv|cblas|lapacke?_|dnnl_|mkl_|cudnn|_ZN2at|at_\w+_out|cu(Module|Library)Load", re.IGNORECASE
)
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
    yield from operator_findings(problem, results, observed.operators, proven=proven)
    read = {one.location.line for one in reported if one.check == _TEXT_CHECK and one.location is not None}
    yield from _of_actions(
        [one for one in observed.actions if one.kind is not protocol.ActionKind.EXEC or one.line not in read]
    )
    draws = problem.determinism is Determinism.RANDOM  # a random operator may use the random state
    yield from _of_changes(
        [one for one in observed.changes if not (draws and one.kind is protocol.ChangeKind.RANDOM_STATE)]
    )


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


def _of_actions(actions: Sequence[protocol.ActionSeen]) -> Iterator[Finding]:
    groups: dict[tuple[Severity, str], list[protocol.ActionSeen]] = {}
    for action in actions:
        severity, what = _ACTION_WORDS[action.kind]
        groups.setdefault((_severity(action, severity), what), []).append(action)
    for (severity, what), group in groups.items():
        parts = [f"{on_one_line(one.detail)} {'while loading' if one.loading else times(one.times)}" for one in group]
        line = next((one.line for one in group if one.line is not None), None)
        yield Finding(
            check=CHECK,
            severity=severity,
            message=f"{what}: {listed(parts)}",
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
        parts = [
            f"{on_one_line(one.name)} ({on_one_line(one.detail)})" if one.detail else on_one_line(one.name)
            for one in group
        ]
        yield Finding(check=CHECK, severity=severity, message=f"{what}: {listed(parts)}")
