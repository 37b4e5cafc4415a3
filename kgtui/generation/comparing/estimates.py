"""Estimated cost of a batch, from the stored answers of the same models; an interval, or none without data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.model.counts import counted
from kgtui.generation.batch import GenerationRequest
from kgtui.generation.budget import usd_text
from kgtui.generation.comparing.statistics import estimated_total
from kgtui.generation.records import ModelName
from sessions.candidates.generation_rows import GenerationRow, GenerationState

LEAST_SAMPLE = 3


def estimate_lines(request: GenerationRequest, rows: Sequence[GenerationRow], *, answers: int) -> Iterator[str]:
    """A line for each model: "210 operators with openai:m, 210 answers: $41.00 to $58.00"."""
    each = answers // len(request.models)
    for model in request.models:
        batch = f"{counted(len(request.operators), 'operator')} with {model}, {counted(each, 'answer')}"
        yield f"{batch}: {_estimate(model, rows, each)}"


def _estimate(model: ModelName, rows: Sequence[GenerationRow], answers: int) -> str:
    settled = [row for row in rows if row.state is GenerationState.SETTLED and row.model_name == str(model)]
    known = [row.cost_microusd for row in settled if row.cost_microusd is not None]
    if len(known) < LEAST_SAMPLE:
        why = f"{counted(len(settled), 'stored answer')}, {len(known)} of known cost"
        return f"cost unknown: {why}; generate {LEAST_SAMPLE} operators first"
    total = estimated_total(known, jobs=answers)
    assert total is not None, "there are enough of them"
    return f"{usd_text(round(total.low))} to {usd_text(round(total.high))} (from {len(known)} stored answers)"
