"""What a person types to find runs becomes a filter, or a sentence that says what can be typed."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from engine.model import Outcome
from kgtui.state.history.run_filter import HINT, read_filter, with_word
from sessions.rows import Result, RunFilter


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("", RunFilter()),
        ("   ", RunFilter()),
        ("tail mask", RunFilter(text="tail mask")),
        ("op:softmax", RunFilter(operator="softmax")),
        ("op:aten::softmax", RunFilter(problem="aten::softmax")),
        ("aten::softmax", RunFilter(text="aten::softmax")),
        ("file:v2.py device:H100", RunFilter(file="v2.py", device="H100")),
        ("is:passed", RunFilter(result=Result.PASSED)),
        ("is:FL", RunFilter(result=Result.FLAGGED)),
        ("outcome:time", RunFilter(outcome=Outcome.TIMEOUT)),
        ("outcome:pass", RunFilter(outcome=Outcome.PASS)),
        ("session:" + 18 * "9", RunFilter(session=10**18 - 1)),
        ("session:12 tag:keep a b", RunFilter(session=12, tag="keep", text="a b")),
        ("[red]x[/] 日本", RunFilter(text="[red]x[/] 日本")),
    ],
)
def test_words_become_a_filter(typed: str, wanted: RunFilter) -> None:
    assert read_filter(typed) == wanted


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("colour:red", "unknown filter colour:; use op:, file:, device:, tag:, is:, outcome:, session: or plain words"),
        ("op:", "op: needs a value behind the colon"),
        ("is:f", "is:f is invalid; use one of passed, failed, flagged, unfinished"),
        ("session:-1", "session:-1 is invalid; use the number of a session"),
        ("session:" + 19 * "9", f"session:{19 * '9'} is invalid; use the number of a session"),
        ("session:²", "session:² is invalid; use the number of a session"),
    ],
)
def test_invalid_value_is_reported_with_valid_ones(typed: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_filter(typed)
    assert str(caught.value) == complaint


def test_unknown_outcome_is_reported_with_known_ones() -> None:
    with pytest.raises(UsageError, match="outcome:sad is invalid; use one of pass, wrong_value, wrong_shape"):
        read_filter("outcome:sad")


def test_hint_is_valid_filter() -> None:
    examples = HINT.partition(", or")[0]
    assert read_filter(examples).session == 7


def test_name_replaces_earlier_name_in_filter() -> None:
    assert with_word("op:rope tail", "op", "softmax") == "tail op:softmax"
    assert with_word("op::x tail", "op", "softmax") == "op::x tail op:softmax"
