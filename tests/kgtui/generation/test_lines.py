"""The last line of a batch on the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgtui.generation.events import BatchEnded, RequestSent, Spot
from kgtui.generation.lines import event_line, resumable_text
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


def test_first_request_states_how_long_it_may_wait():
    sent = RequestSent(spot=Spot(problem="aten::silu", model="local:m", place=1))
    first, second = (replace(NO_BATCH, number=3, total=2, sent=number) for number in (1, 2))
    assert event_line(sent, first, now_s=0.0) == (
        "[0/2] waiting for local:m (an attempt without a reply ends after 10 min); ctrl+c ends the batch"
    )
    assert event_line(sent, second, now_s=0.0) is None
