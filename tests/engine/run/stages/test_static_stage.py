"""The static stage: it tells what the text shows, and refuses by the policy's word alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Candidate, Finding, Outcome, Plan, Policy, Stage, events
from engine.model.layers import Coverage
from engine.run.event_stream import EventEmitter
from engine.run.stages.static_stage import StaticFindings, report_and_decide
from engine.run.static_reading import parse_candidate
from engine.verdict.decide import Stop
from tests.operators import find

PLAIN_TORCH = b"import torch\n\n\ndef silu(self):\n    return self * torch.sigmoid(self)\n"
BOOKKEEPING = b"""import torch
import triton


@triton.jit
def kernel(x, y): ...


def silu(self):
    total = self.sum().item()
    y = torch.empty_like(self)
    kernel[(self.numel(),)](self, y)
    return y
"""


class Emitted:
    """What one reading of a text under one policy says."""

    def __init__(
        self, source: bytes, policy: Policy, folder: Path | None = None, *, proven: Collection[int] | None = None
    ) -> None:
        problem = find("aten::silu")
        plan = replace(Plan(problem=problem, cases=problem.cases, device="cpu", target=None), policy=policy)
        candidate = Candidate(source=source, problem=problem.name, folder=folder)
        emitter = Emitted.Listening()
        self.static = StaticFindings(emitter)

        async def read() -> Stop | None:
            parsed = await parse_candidate(candidate, plan)
            return await report_and_decide(parsed, plan=plan, emitter=emitter, findings=self.static)

        self.stop: Stop | None = asyncio.run(read())
        self.held = not any(isinstance(event, events.LayerChecked) for event in emitter.reported)
        self.static.release(proven)
        self.findings: list[Finding] = emitter.findings
        [self.layer] = [event.report for event in emitter.reported if isinstance(event, events.LayerChecked)]
        [self.ended] = [event for event in emitter.reported if isinstance(event, events.StageFinished)]

    class Listening(EventEmitter):
        """Keeps what it is told."""

        def __init__(self) -> None:
            super().__init__(lambda: 0.0, started=0.0)
            self.reported: list[events.Event] = []

        def emit(self, event: events.Event) -> None:
            self.reported.append(event)


@pytest.mark.parametrize("policy", [Policy.DEFAULT, Policy.FACTS_ONLY])
def test_default_policy_refuses_nothing_without_rules(policy: Policy) -> None:
    reported = Emitted(PLAIN_TORCH, policy)
    assert reported.stop is None
    assert (reported.ended.stage, reported.ended.outcome) == (Stage.STATIC, Outcome.PASS)
    assert "no_kernel" in [finding.check for finding in reported.findings]
    assert Emitted(BOOKKEEPING, policy).findings == []


@pytest.mark.parametrize(
    ("proven", "lines"), [(None, [11]), ((11,), []), ((9, 12), [11])], ids=["no proof", "proven", "proven elsewhere"]
)
def test_hint_that_a_proof_may_refute_waits_for_it(proven: tuple[int, ...] | None, lines: list[int]) -> None:
    source = BOOKKEEPING.replace(b"torch.empty_like(self)", b"torch.relu(self)")
    reported = Emitted(source, Policy.DEFAULT, proven=proven)
    found = [finding for finding in reported.findings if finding.check == "torch_compute"]
    assert reported.held
    assert [finding.location.line for finding in found if finding.location is not None] == lines
    assert reported.layer.facts[-1].value == str(len(reported.findings))


@pytest.mark.parametrize(("proven", "count"), [(None, 1), ((), 0)])
def test_hint_on_an_unwritten_answer_is_refuted_by_a_proof(proven: tuple[int, ...] | None, count: int) -> None:
    source = BOOKKEEPING.replace(
        b"    total", b"    if self.dim() > 9:\n        return torch.empty_like(self)\n    total"
    )
    found = [one for one in Emitted(source, Policy.DEFAULT, proven=proven).findings if one.check == "unwritten_output"]
    assert len(found) == count


def test_hint_of_a_refused_file_does_not_wait() -> None:
    assert not Emitted(PLAIN_TORCH, Policy.STRICT).held


def test_hints_with_one_message_are_merged_once_they_are_reported() -> None:
    lines = b"".join(b"    torch.mm(self, self, out=y)\n" for _ in range(3))
    source = BOOKKEEPING.replace(b"    return y", lines + b"    return y")
    [finding] = [one for one in Emitted(source, Policy.DEFAULT).findings if one.check == "torch_compute"]
    assert finding.message.endswith("(3 times, lines 13, 14, 15)")


def test_strict_policy_names_rule_check_and_line() -> None:
    reported = Emitted(PLAIN_TORCH, Policy.STRICT)
    assert reported.stop is not None
    assert reported.stop.outcome is Outcome.REFUSED
    assert reported.stop.message.startswith(
        "not run, breaks a strict rule: The output is computed by a kernel that the "
    )
    assert "(no_kernel, line 1: " in reported.stop.message
    assert (reported.ended.outcome, reported.ended.message, reported.ended.location) == (
        Outcome.REFUSED,
        reported.stop.message,
        reported.stop.location,
    )


def test_whitelist_only_violation_is_reported_and_refused() -> None:
    reported = Emitted(BOOKKEEPING, Policy.STRICT)
    assert [(finding.check, finding.message) for finding in reported.findings] == [
        ("whitelist", ".sum() of a tensor computes")
    ]
    assert reported.stop is not None
    assert reported.stop.location is not None
    assert reported.stop.location.line == 10


def test_strict_policy_finds_arithmetic_on_annotated_tensors() -> None:
    halved = (
        b"import triton\n\n\n@triton.jit\ndef kernel(x): ...\n\n\ndef silu(a):\n    kernel[(1,)](a * 2)\n    return a\n"
    )
    reported = Emitted(halved, Policy.STRICT)
    assert ("whitelist", "arithmetic on tensors computes") in [(one.check, one.message) for one in reported.findings]


def test_unread_import_is_refused_by_strict_policy_only(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def finish(y): return y * 2\n")
    source = BOOKKEEPING.replace(b"    total = self.sum().item()\n", b"")
    source = source.replace(b"import torch\n", b"import helper, torch\n")
    assert Emitted(source, Policy.DEFAULT, tmp_path).stop is None
    assert Emitted(source, Policy.STRICT).stop is None
    reported = Emitted(source, Policy.STRICT, tmp_path)
    assert reported.stop is not None
    assert "(imports: could not check: helper.py is imported" in reported.stop.message
    assert [finding.check for finding in reported.findings] == ["imports"]


def raising(_: object) -> Iterator[Finding]:
    raise KeyError("lost")


def too_deep(_: object) -> Iterator[Finding]:
    raise RecursionError("too deep")


def test_check_that_raises_is_no_broken_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.static.checks.no_kernel.check", raising)
    reported = Emitted(BOOKKEEPING, Policy.STRICT)
    assert reported.stop is not None
    assert (reported.stop.outcome, reported.stop.message) == (
        Outcome.ENGINE_ERROR,
        "not run: the strict rules could not be checked (no_kernel: KeyError: 'lost')",
    )
    assert reported.layer.coverage is Coverage.ENGINE_FAILED
    assert Emitted(BOOKKEEPING, Policy.DEFAULT).stop is None


def test_file_too_deep_for_a_check_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.static.checks.no_kernel.check", too_deep)
    reported = Emitted(BOOKKEEPING, Policy.STRICT)
    assert reported.stop is not None
    assert reported.stop.outcome is Outcome.REFUSED
    assert reported.layer.coverage is Coverage.NOT_CHECKED


def test_each_finding_is_reported_once() -> None:
    findings = Emitted(PLAIN_TORCH, Policy.STRICT).findings
    assert len(findings) == len(set(findings))


def test_checks_do_not_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def read_statically(*_: object, **__: object) -> Iterator[Finding]:
        readers.append(threading.current_thread())
        return iter(())

    monkeypatch.setattr("engine.run.static_reading.read_statically", read_statically)
    assert Emitted(PLAIN_TORCH, Policy.DEFAULT).stop is None
    assert len(readers) == 1
    assert threading.current_thread() not in readers
