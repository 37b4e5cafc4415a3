"""What an agent prints, in pieces of any size: whole lines, no keys, a bounded part in the answer."""

from __future__ import annotations

import pytest

from kgtui.generation.agents.output import MOST_BYTES, MOST_SHOWN_CHARACTERS, AgentOutput

KEY = "sk-agent-0123456789"
PRINTED = f"key {KEY} \u00e9\n```python\n<think>\n"


@pytest.fixture
def output():
    return AgentOutput([KEY])


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_output_in_pieces_is_shown_as_whole(output, size):
    data = PRINTED.encode()
    shown = "".join(output.take(data[start : start + size]) for start in range(0, len(data), size))
    assert shown == "key [key] \u00e9\n'''python\n[think>\n"


def test_unterminated_last_line_is_shown_at_end(output):
    assert (output.take(b"one\ntw"), output.rest(), output.rest()) == ("one\n", "tw", "")


def test_truncated_output_is_noted_once(output):
    lines = [f"{'x' * 99}\n"] * (MOST_SHOWN_CHARACTERS // 100)
    assert "".join(output.take(line.encode()) for line in lines) == "".join(lines)
    assert output.take(b"y\n") == "\n(output after 50,000 characters left out)\n"
    assert output.take(b"tokens 12\n") == ""
    assert output.text.endswith("y\ntokens 12\n")


def test_output_above_the_limit_is_too_long(output):
    output.take(b"x" * MOST_BYTES)
    assert not output.is_too_long
    output.take(b"x")
    assert output.is_too_long
