"""Actions and changes that a worker has seen: which count against a candidate, and how that is said."""

from __future__ import annotations

import dataclasses

import pytest

from engine import protocol
from engine.model import (
    Determinism,
    Finding,
    Location,
    Severity,
)
from engine.verdict.observed_effects import facts, findings
from tests.engine.verdict.observed_calls import (
    DEFINITION,
    PROBLEM,
    RESULTS,
    found,
    severities,
)


def action(
    kind: protocol.ActionKind, detail: str = "d", *, line: int | None = None, loading: bool = False
) -> protocol.ActionSeen:
    return protocol.ActionSeen(kind=kind, detail=detail, line=line, loading=loading, times=2)


def test_code_made_where_the_text_was_reported_is_not_repeated() -> None:
    seen = protocol.Observed(
        id="i",
        actions=(action(protocol.ActionKind.EXEC, line=4, loading=True), action(protocol.ActionKind.MEMORY, line=4)),
    )
    text, other = (
        Finding(check=check, severity=Severity.HINT, message="m", location=Location(line=4))
        for check in ("runs_text", "no_kernel")
    )
    assert [one.message for one in findings(PROBLEM, (), seen, reported=(text,))] == [
        "read memory by address: d 2 times"
    ]
    assert len(list(findings(PROBLEM, (), seen, reported=(other,)))) == 2


@pytest.mark.parametrize(
    ("seen", "severity"),
    [
        (action(protocol.ActionKind.SOCKET), Severity.SUSPECT),
        (action(protocol.ActionKind.PROCESS, "os.fork"), Severity.SUSPECT),
        (action(protocol.ActionKind.PROCESS, "subprocess sh -c nvidia-smi"), Severity.SUSPECT),
        (action(protocol.ActionKind.PROCESS, "subprocess /usr/bin/nvidia-smi -L"), Severity.NOTE),
        (action(protocol.ActionKind.FRAMES), Severity.SUSPECT),
        (action(protocol.ActionKind.OBJECTS), Severity.SUSPECT),
        (action(protocol.ActionKind.EXEC), Severity.HINT),
        (action(protocol.ActionKind.LIBRARY, "dlopen libcuda.so.1"), Severity.HINT),
        (action(protocol.ActionKind.LIBRARY, "dlsym mprotect"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlsym cudaDeviceSetLimit"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlsym cudaDeviceGetAttribute"), Severity.HINT),
        (action(protocol.ActionKind.FILE_WRITTEN, "/dev/shm/answers"), Severity.SUSPECT),
        (action(protocol.ActionKind.FILE_READ, "/dev/shm/answers"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlopen libcublasLt.so.13"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlopen /opt/my blas/libc.so.6"), Severity.HINT),
        (action(protocol.ActionKind.LIBRARY, "dlopen /a/numpy.libs/libscipy_openblas64_-32.so"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlopen of its own /tmp/plan.bin"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlsym cblas_sgemm"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlsym cuModuleLoadData"), Severity.SUSPECT),
        (action(protocol.ActionKind.LIBRARY, "dlsym cuDeviceGetAttribute"), Severity.HINT),
        (action(protocol.ActionKind.FILE_WRITTEN, "in the compiler's cache: /c/k.cubin"), Severity.SUSPECT),
        (action(protocol.ActionKind.MEMORY), Severity.HINT),
        (action(protocol.ActionKind.FILE_READ, "/home/a/b"), Severity.HINT),
        (action(protocol.ActionKind.FILE_READ, "/proc/self/maps"), Severity.SUSPECT),
        (action(protocol.ActionKind.FILE_WRITTEN), Severity.HINT),
        (action(protocol.ActionKind.IMPORT, "cupy"), Severity.NOTE),
    ],
)
def test_each_action_has_its_weight(seen: protocol.ActionSeen, severity: Severity) -> None:
    assert severities(found(actions=(seen,))) == [severity]


def test_every_action_and_change_kind_has_words() -> None:
    assert len(found(actions=tuple(action(kind) for kind in protocol.ActionKind))) == len(protocol.ActionKind)
    changes = tuple(protocol.ChangeSeen(kind=kind, name="n") for kind in protocol.ChangeKind)
    assert len(found(changes=changes)) == len(protocol.ChangeKind)


def test_actions_of_one_kind_are_one_finding() -> None:
    seen = (
        action(protocol.ActionKind.FRAMES, "sys._getframe", line=7, loading=True),
        action(protocol.ActionKind.FRAMES, "a\nb\x1b[0m"),
        *(action(protocol.ActionKind.FRAMES, f"{number}") for number in range(5)),
    )
    (finding,) = found(actions=seen)
    assert finding.location == Location(line=7)
    assert finding.message == (
        "inspected the caller's frames: sys._getframe while loading, a?b?[0m 2 times, 0 2 times, 1 2 times, and 3 more"
    )


@pytest.mark.parametrize(
    ("kind", "severity"),
    [
        (protocol.ChangeKind.FUNCTION, Severity.SUSPECT),
        (protocol.ChangeKind.TENSOR_THREAD, Severity.SUSPECT),
        (protocol.ChangeKind.PROCESS, Severity.SUSPECT),
        (protocol.ChangeKind.SETTING, Severity.HINT),
        (protocol.ChangeKind.THREAD, Severity.NOTE),
        (protocol.ChangeKind.RANDOM_STATE, Severity.NOTE),
    ],
)
def test_each_change_has_its_weight(kind: protocol.ChangeKind, severity: Severity) -> None:
    (finding,) = found(changes=(protocol.ChangeSeen(kind=kind, name="torch.allclose", detail="<lambda>"),))
    assert finding.severity is severity
    assert finding.message.endswith(": torch.allclose (<lambda>)")


def test_operator_that_draws_may_use_random_state() -> None:
    change = protocol.ChangeSeen(kind=protocol.ChangeKind.RANDOM_STATE, name="cpu")
    drawing = dataclasses.replace(DEFINITION, determinism=Determinism.RANDOM).problem("toy_problems")
    observed = protocol.Observed(id="i", operators=(), actions=(), changes=(change,))
    assert [one.message for one in findings(PROBLEM, RESULTS, observed)] == ["used or seeded torch's random state: cpu"]
    assert list(findings(drawing, RESULTS, observed)) == []


def test_facts_count_all_observations() -> None:
    operator = protocol.OperatorSeen(name="aten::empty", kind=protocol.OperatorKind.ALLOCATION, uses=3)
    change = protocol.ChangeSeen(kind=protocol.ChangeKind.TENSOR_THREAD, name="t")
    reported = facts(protocol.Observed(id="0" * 32, operators=(operator,), changes=(change,)))
    assert [(fact.name, fact.value) for fact in reported] == [
        ("operators of torch", "3 allocation"),
        ("side effects", "none"),
        ("state left changed", "1 tensor thread"),
    ]


def test_empty_reply_gives_no_finding() -> None:
    assert found() == []
