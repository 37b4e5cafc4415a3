"""Stored answers as versions of a file, while their batch is running and after it."""

from __future__ import annotations

import pytest

from kgtui.generation.display.versions import stored_text, versions_of
from kgtui.generation.events import BatchEnded
from kgtui.generation.progress import GenerationProgress
from sessions.candidates.generation_rows import Ending, GenerationRow, GenerationState, Stop

NOT_RUN = GenerationRow(
    id=1, session=1, batch=4, problem="aten::add", provider="openai", model="alpha", place="sample-1",
    state=GenerationState.SETTLED, sent="[]", received="", stop=Stop.COMPLETE, extraction="", usage=None,
    cost_microusd=100_000, reserved_microusd=500_000, reserved_tokens=9, digest="d", elapsed_s=1.0, run=None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("progress", "is_settled", "text"),
    [
        (GenerationProgress(number=4), False, "version 1/1 $0.1000"),
        (GenerationProgress(number=5), True, "not run: its batch ended (version 1/1 $0.1000)"),
        (
            GenerationProgress(number=4, ended=BatchEnded(ending=Ending.CANCELLED)),
            True,
            "not run: its batch ended (version 1/1 $0.1000)",
        ),
    ],
    ids=["running", "of an earlier batch", "cancelled"],
)
def test_answer_without_run_is_awaited_while_batch_runs(
    progress: GenerationProgress, is_settled: bool, text: str
) -> None:
    (version,) = versions_of([NOT_RUN], progress, problem="aten::add")
    assert (version.is_settled, stored_text(version, 1, 1)) == (is_settled, text)
