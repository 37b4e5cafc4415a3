"""A stored answer sent back with a remark: the continued conversation, and its batch."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from engine.errors import StoreError, UsageError
from engine.reports.run_record import RunRecord
from kgtui.generation.batch import GenerationRequest
from kgtui.generation.prompts import Prompts
from kgtui.generation.records import Message, ModelName, Role
from kgtui.generation.strategies import DEFAULT, StrategyOptions
from sessions.candidates.generation_rows import BatchRow, GenerationRow


def conversation(row: GenerationRow, run: RunRecord | None, *, remark: str, prompts: Prompts) -> tuple[Message, ...]:
    """The first prompt of an answer, the answer, and the report of its run with the remark.

    Raises:
        StoreError: the sent messages cannot be read.
    """
    try:
        sent = msgspec.json.decode(row.sent, type=tuple[Message, ...])
    except msgspec.DecodeError as error:
        raise StoreError(f"the prompt of this answer cannot be read: {error}; generate a new one") from error
    # Rounds in between are left out, as the strategy `refine` does: this keeps the prompt short.
    last = next((place for place, message in enumerate(sent) if message.role is Role.USER), len(sent) - 1)
    return (
        *sent[: last + 1],
        Message(role=Role.ASSISTANT, text=row.received or "(no answer)"),
        Message(role=Role.USER, text=prompts.feedback(run, extraction=row.extraction, remark=remark)),
    )


def reply_request(row: GenerationRow, batch: BatchRow, *, remark: str) -> GenerationRequest:
    """One more answer of the same model under the conditions of the batch of `row`.

    Raises:
        StoreError: another version of kgtui wrote that batch.
    """
    before = GenerationRequest.from_json(batch.request)
    return replace(
        before,
        operators=(row.problem,),
        models=(_model_of(row, before),),
        strategy=DEFAULT,
        options=StrategyOptions(remark=remark),
        continues=row.id,
    )


def _model_of(row: GenerationRow, request: GenerationRequest) -> ModelName:
    """The model with its base URL, which only the request contains."""
    for model in request.models:
        if str(model) == row.model_name:
            return model
    raise UsageError(f"the batch of this answer does not name {row.model_name}; generate a new one")
