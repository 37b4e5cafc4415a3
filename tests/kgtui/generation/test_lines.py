"""The last line of a batch on the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgtui.generation.events import BatchEnded
from kgtui.generation.lines import resumable_text
from kgtui.generation.progress import NO_BATCH
from sessions.candidates.generation_rows import Ending


@pytest.mark.parametrize(
    ("ending", "end"),
    [
        (Ending.FINISHED, "$0.00"),
        (Ending.CANCELLED, "; the same command with --resume continues"),
        (Ending.BUDGET, "; the same command with --resume and a larger --budget continues"),
    ],
)
def test_interrupted_batch_names_resume_command(ending, end):
    assert resumable_text(replace(NO_BATCH, number=3, ended=BatchEnded(ending=ending))).endswith(end)
