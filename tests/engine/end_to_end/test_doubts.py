"""Right candidates are doubted in a real worker: by the order of programs, by time, and by precision."""

from __future__ import annotations

import pytest
import triton.language as tl
from triton.language.extra import libdevice

from engine.model import Finding, Location, Outcome, Severity
from engine.model.events import LayerChecked
from engine.model.layers import Coverage, LayerReport

pytestmark = pytest.mark.asyncio(loop_scope="session")

SILU = """
import threading
import time
import torch
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)

def computed(x):
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), B=128)
    return y
"""
# Each program passes on to the next where it left off; {begin} is what it does before it reads that.
CHAIN = """
import torch
import triton
import triton.language as tl

@triton.jit
def chained(x, y, carry, flags, tickets, n, B: tl.constexpr):
    number = {number}
    {begin}
    at = number * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    before = tl.load(carry + number - 1, mask=number > 0, other=0.0)
    tl.store(y + at, v / (1 + tl.exp(-v)) + before, mask=at < n)
    tl.store(carry + number, before)
    tl.debug_barrier()
    tl.atomic_xchg(flags + number, 1)

def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        programs = triton.cdiv(x.numel(), 64)
        carry = torch.full((programs,), 1.0, device=x.device)
        carry[0] = 0.0
        flags = torch.zeros(programs + 1, dtype=torch.int32, device=x.device)
        chained[(programs,)](x, y, carry, flags, flags[programs:], x.numel(), B=64)
    return y
"""
WAIT = "while (number > 0) & (tl.atomic_add(flags + tl.maximum(number - 1, 0), 0) == 0):\n        pass"


def said(judged, probe: str) -> tuple[list[Finding], LayerReport]:
    """What a probe found, and its report."""
    (report,) = (
        event.report for event in judged.events if isinstance(event, LayerChecked) and event.report.by == probe
    )
    return [finding for finding in judged.findings if finding.check == probe], report


def facts(report: LayerReport) -> dict[str, str]:
    return {fact.name: fact.value for fact in report.facts}


async def test_honest_kernel_gets_no_finding(evaluate):
    judged = await evaluate(SILU + "def silu(self):\n    return computed(self.contiguous())\n")
    assert (judged.verdict.outcome, judged.verdict.flagged) == (Outcome.PASS, False), judged.verdict.sentence
    for probe in ("deferred", "precision", "repeats"):
        findings, report = said(judged, probe)
        assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert facts(said(judged, "repeats")[1])["bits"] == "identical in every call on the same input"


async def test_kernel_with_every_language_name_gets_no_finding(evaluate):
    names = [f"tl.{name}" for name in tl.__all__]
    names += [f"libdevice.{name}" for name in dir(libdevice) if not name.startswith("_")]
    named = "from triton.language.extra import libdevice\n" + SILU.replace(
        "    at = tl", f"    if B < 0:\n        {'; '.join(names)}\n    at = tl", 1
    )
    assert "tl.multiple_of; " in named
    judged = await evaluate(named + "def silu(self):\n    return computed(self.contiguous())\n")
    assert (judged.verdict.outcome, judged.findings) == (Outcome.PASS, [])


async def test_program_relying_on_previous_program_is_race(evaluate):
    source = CHAIN.format(number="tl.program_id(0)", begin="pass")
    judged = await evaluate(source)
    assert judged.verdict.outcome is Outcome.WRONG_VALUE
    (finding,) = (finding for finding in judged.findings if finding.check == "race")
    assert finding.severity is Severity.PROOF
    line = 1 + source[: source.index("tl.store(carry + number")].count("\n")
    assert finding.location == Location(line=line)
    assert finding.message.startswith("race in chained: program (2, 0, 0) loads carry[1] at line ")
    assert f", which program (1, 0, 0) stores at line {line} without synchronization" in finding.message


@pytest.mark.parametrize(
    ("number", "order"),
    [
        ("tl.program_id(0)", "no launch has programs whose order can change"),
        ("tl.atomic_add(tickets, 1)", "2 launches with their programs in another order"),
    ],
    ids=["program", "ticket"],
)
async def test_program_waiting_for_previous_is_not_race(evaluate, number, order):
    judged = await evaluate(CHAIN.format(number=number, begin=WAIT))
    assert (judged.verdict.outcome, judged.verdict.flagged) == (Outcome.PASS, False), judged.verdict.sentence
    findings, report = said(judged, "repeats")
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert facts(report)["order"] == order


@pytest.mark.parametrize("late_s", [0.05, 0.14], ids=["while it is left alone", "while later calls are made"])
async def test_thread_writing_after_return_is_found(evaluate, late_s):
    source = f"""
def silu(self):
    time.sleep(0.02)  # an answer is left alone for 100 ms after cases that took as long, then four calls follow
    y = computed(self.contiguous())
    def spoil():
        time.sleep({late_s})
        y.view(-1)[:3] = 7.0
    threading.Thread(target=spoil, daemon=True).start()
    return y
"""
    for attempt in range(5):
        judged = await evaluate(f"{SILU}{source}# attempt {attempt}\n")
        if judged.verdict.outcome is Outcome.PASS:
            break
        # On a busy machine the thread may write before the comparison: the answer is wrong and is not probed.
        assert judged.verdict.outcome is Outcome.WRONG_VALUE
    ((finding,), _) = said(judged, "deferred")
    assert finding.severity is Severity.SUSPECT
    assert finding.message.startswith("the output changed after the call had returned: 3 of ")


async def test_buffer_reused_by_next_call_is_accepted(evaluate):
    source = """
KEPT = {}

def silu(self):
    x = self.contiguous()
    y = KEPT.setdefault((x.shape, x.dtype), torch.empty_like(x))
    y.copy_(computed(x))
    return y
"""
    judged = await evaluate(SILU + source)
    ((finding,), report) = said(judged, "deferred")
    assert (finding.severity, report.coverage) == (Severity.SUSPECT, Coverage.CHECKED)
    assert finding.message.startswith("a later call changed an output that was already returned, 585 of 585 elements")
