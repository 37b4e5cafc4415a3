"""Generated candidates for tests: a request, answers of every kind, and answers of no batch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from sessions import Store
from sessions.candidates.generation_rows import NewGeneration, Settlement, Stop, TokenUsage

_INSERT_GENERATION = """
insert into generations (
    session, problem, provider, model, prompt_tokens, completion_tokens, cost_microusd, candidate, ended_at, elapsed_s
) values (
    :session, :problem, :provider, :model, :prompt_tokens, :completion_tokens, :cost_microusd, :candidate, :ended_at,
    :elapsed_s
)"""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """One answer of a provider; `source` is None when no source came back."""

    problem: str
    provider: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_microusd: int | None
    source: bytes | None
    elapsed_s: float


NEW_GENERATION = NewGeneration(
    problem="aten::softmax",
    provider="replay",
    model="alpha",
    place="sample-1",
    sent="[]",
    reserved_microusd=900,
    reserved_tokens=3000,
)

SETTLEMENT = Settlement(
    received="an answer",
    stop=Stop.COMPLETE,
    usage=TokenUsage(input_tokens=100, output_tokens=50, cached_tokens=40, reasoning_tokens=10),
    cost_microusd=250,
    source=b"def softmax(x): ...\n",
    extraction="",
    elapsed_s=1.5,
)


def new_generation(**changes: object) -> NewGeneration:
    """`NEW_GENERATION` with some fields changed."""
    return replace(NEW_GENERATION, **changes)


def settlement(**changes: object) -> Settlement:
    """`SETTLEMENT` with some fields changed."""
    return replace(SETTLEMENT, **changes)


def add_generation(store: Store, session_id: int, generation: Generation) -> int:
    """Store an answer that belongs to no batch, with the source that came back; its number."""
    with store._database.transaction() as connection:
        digest = None if generation.source is None else store._keep_now(connection, generation.source)
        values = {
            **{field.name: getattr(generation, field.name) for field in fields(generation) if field.name != "source"},
            "session": store._present_session(session_id),
            "candidate": digest,
            "ended_at": store._now(),
        }
        number = connection.execute(_INSERT_GENERATION, values).lastrowid
    assert number is not None
    return number
