"""Reports of known agents, as their documentation prints them, and descriptions that cannot be used."""

from __future__ import annotations

import json

import pytest

from engine.errors import UsageError
from kgtui.generation.agents.described import FOLDER, AgentDescription, read_agent
from sessions.candidates.generation_rows import TokenUsage

AIDER = """\
Tokens: 2.3k sent, 812 received. Cost: $0.0191 message, $0.0191 session.
Applied edit to kernel.py
Tokens: 12k sent, 1.5k cache write, 9.1k cache
hit, 1.1k received.
Cost: $0.0409 message, $0.0600 session.
"""
CLAUDE = (
    r'{"type":"result","is_error":false,"result":"it printed \"input_tokens\": 7","total_cost_usd":0.0312505,'
    '"usage":{"input_tokens":12,"cache_creation_input_tokens":3000,"cache_read_input_tokens":45000,'
    '"output_tokens":900,"server_tool_use":{"web_search_requests":0}},'
    '"modelUsage":{"m":{"inputTokens":1,"outputTokens":2}}}\n'
)
CODEX = (
    '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}\n'
    '{"type":"turn.completed","usage":{"input_tokens":26549,"cached_input_tokens":22272,"output_tokens":1590}}\n'
)


@pytest.mark.parametrize(
    ("name", "output", "usage", "microusd"),
    [
        ("aider", AIDER, TokenUsage(input_tokens=14_300, output_tokens=1_912), 60_000),
        ("aider", "Tokens: 120k sent, 1.1M received.", TokenUsage(input_tokens=120_000, output_tokens=1_100_000), None),
        (
            "claude",
            CLAUDE,
            TokenUsage(input_tokens=48_012, output_tokens=900, cached_tokens=45_000, cache_write_tokens=3_000),
            31_251,
        ),
        ("codex", CODEX, TokenUsage(input_tokens=26_549, output_tokens=1_590, cached_tokens=22_272), None),
        ("aider", "Tokens: 2.3k sent", None, None),
        ("claude", "", None, None),
    ],
)  # fmt: skip
def test_report_of_known_agent_is_read(name, output, usage, microusd):
    described = read_agent(name, (FOLDER,))
    assert (described.usage(output), described.cost_microusd(output)) == (usage, microusd)


@pytest.mark.parametrize(
    "output", ["in 1.2.3 out 4", "in 9999999999999 out 4", "in NaN out 4", "in 1e9999999 out 4", "in 5 out 4 cached 6"]
)
def test_report_that_cannot_be_is_unknown(output):
    described = AgentDescription(
        command=("agent",), input_tokens=r"in (\S+)", output_tokens=r"out (\S+)", cached_tokens=r"cached (\S+)"
    )
    assert described.usage(output) is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("in (", "input_tokens is not a regular expression"), ("in 5", "must have one group"), ("(a)(b)", "one group")],
)
def test_pattern_that_cannot_be_used_is_refused(tmp_path, pattern, message):
    (tmp_path / "own.json").write_text(json.dumps({"command": ["own"], "input_tokens": pattern}))
    with pytest.raises(UsageError, match=message):
        read_agent("own", (tmp_path,))


def test_every_known_agent_is_described():
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    assert names == ["aider", "claude", "codex"]
    assert all("{task}" in read_agent(name, (FOLDER,)).command for name in names)


def test_an_unknown_agent_lists_the_known_ones():
    with pytest.raises(UsageError, match="known agents: aider, claude, codex"):
        read_agent("nope", (FOLDER,))
