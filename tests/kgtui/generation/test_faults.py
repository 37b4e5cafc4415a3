"""A batch over a real client and a server with one fault each: requests sent, what was paid, what a user reads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kgtui.generation.budget import Spent
from kgtui.generation.display.versions import stored_text, versions_of
from kgtui.generation.events import RequestRefused
from kgtui.generation.lines import ending_text
from kgtui.generation.progress import NO_BATCH, after
from kgtui.generation.providers import open_provider
from kgtui.generation.records import ModelName
from tests.kgtui.generation.wire_server import Reply, WireServer

ENVIRONMENT = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "ANTHROPIC_API_KEY": "sk-test-0123456789abcdef"}
PAID_ONCE = Spent(microusd=200, tokens=160)  # 120 input and 40 output tokens at 1 and 2 dollars a million
NOTHING = Spent()
WORST_ONCE = "the reservation"  # the usage is unknown, so that all of it counts
BUSY = Reply(status=429, headers=(("retry-after", "7"),), body='{"error": {"message": "slow down"}}')


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A script of the server, how many requests it gets, what is spent, and words that the user reads."""

    replies: tuple[Reply, ...]
    requests: int = 1
    spent: Spent | str = NOTHING
    reads: str


FAULTS = {
    "none": Fault(replies=(Reply(),), spent=PAID_ONCE, reads="finished: 1 answer, 1 passed"),
    "429 once": Fault(
        replies=(BUSY, Reply()),
        requests=2,
        spent=PAID_ONCE,
        reads="{name} answered 429 (lower --concurrency, or try again later): slow down",
    ),
    "500 once": Fault(
        replies=(Reply(status=500, body="{}"), Reply()), requests=2, spent=PAID_ONCE, reads="{name} answered 500"
    ),
    "429 always": Fault(replies=(BUSY,), requests=6, reads="; first error: openai:alpha on aten::softmax: {name} an"),
    "wrong key": Fault(
        replies=(Reply(status=401, body="{}"),), reads="{name} answered 401; check the key in {variable}"
    ),
    "unknown model": Fault(
        replies=(Reply(status=404, body="{}"),),
        reads="{name} answered 404; check the name of the model and the base URL",
    ),
    "HTML": Fault(
        replies=(Reply(content_type="text/html", body="<html>"),),
        reads="{name} answered with text/html instead of a stream of events; check the base URL",
    ),
    "cut connection": Fault(
        replies=(Reply(cut_after=3),), spent=WORST_ONCE, reads="no code: the connection broke inside of the code"
    ),
    "malformed chunk": Fault(
        replies=(Reply(malformed_after=3),), spent=WORST_ONCE, reads="no code: the connection broke inside of the code"
    ),
    "no end": Fault(replies=(Reply(has_end=False),), spent=WORST_ONCE, reads="1 passed"),
    "usage missing": Fault(replies=(Reply(has_usage=False),), spent=WORST_ONCE, reads="cost unknown"),
    "token limit": Fault(replies=(Reply(stops_at_length=True),), spent=PAID_ONCE, reads="1 passed"),
    "slow drip": Fault(replies=(Reply(drips=True),), spent=PAID_ONCE, reads="1 passed"),
    "tool use": Fault(replies=(Reply(has_tool_use=True),), spent=PAID_ONCE, reads="1 passed"),
    "huge answer": Fault(
        replies=(Reply(pieces=["x" * 400_000] * 6),), spent=WORST_ONCE, reads="a kernel file has at most 400,000"
    ),
    "no code": Fault(replies=(Reply(pieces=["I cannot."]),), spent=PAID_ONCE, reads="the answer has no code block"),
}


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("name", FAULTS)
async def test_service_fault_pays_each_answer_once(bench, protocol, name):
    fault = FAULTS[name]
    async with WireServer(script=list(fault.replies)) as server:
        base = f"{server.url}/v1" if protocol == "openai" else server.url
        bench.provider = open_provider(ModelName(provider=protocol, model="m", base_url=base), ENVIRONMENT)
        await bench.run()
        await bench.provider.aclose()
    (row,) = bench.rows
    worst = Spent(microusd=row.reserved_microusd, tokens=row.reserved_tokens, unpriced=1)
    assert len(server.received) == fault.requests
    assert bench.budget.spent == (worst if fault.spent == WORST_ONCE else fault.spent)
    reads = fault.reads.format(name=protocol, variable=f"{protocol.upper()}_API_KEY")
    assert reads in _read_by_user(bench, row)


def _read_by_user(bench, row):
    """What the screen shows of a batch with one answer: refusals, its end, its version."""
    progress = replace(after(NO_BATCH, bench.events), number=bench.number)
    (*versions,) = versions_of([row], progress, problem="aten::softmax")
    refusals = [event.message for event in bench.of(RequestRefused)]
    return "\n".join([*refusals, ending_text(progress), *(stored_text(one, 1, 1) for one in versions)])
