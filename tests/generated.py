"""Generated candidates for tests: a request, and answers of every kind."""

from __future__ import annotations

from dataclasses import replace

from sessions.candidates.generation_rows import NewGeneration, Settlement, Stop, TokenUsage

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
