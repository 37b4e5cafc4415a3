"""`kgtui problems audit`: weaknesses by operator, a mark in the list, a sentence on the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from kgtui.cli.command_line import parse
from kgtui.cli.commands.problems import audit
from kgtui.schemas import schema_text

SILU = (Path(__file__).parents[4] / "problems" / "aten" / "silu.py").read_text()
BROKEN = SILU.replace("aten::silu", "user::broken").replace('"silu', '"broken').replace(
    "return torch.nn.functional.silu(x.double()).to(x.dtype)", 'raise ValueError("oops")'
)  # fmt: skip


@pytest.fixture
def problems(folder):
    (folder / "broken.py").write_text(BROKEN)
    return folder


def test_broken_reference_is_marked_until_file_changes(typed, problems, console):
    def printed(*arguments):
        ended = typed(*arguments, "--problems", problems)
        console.out.seek(0)
        console.out.truncate()
        return ended

    audited = printed("problems", "audit", "--json")
    document = json.loads(audited.out)
    jsonschema.Draft202012Validator(json.loads(schema_text("audit"))).validate(document)
    (problem,) = document["problems"]
    assert (audited.exit_code, problem["name"]) == (1, "user::broken")
    assert [one["defect"] for one in problem["weaknesses"]] == ["reference fails"]
    assert "user::broken !" in printed("problems", "list").out
    assert (
        "verdicts unreliable: 1000 f32: the reference raised ValueError: oops"
        in printed("problems", "show", "broken").out
    )
    (problems / "broken.py").write_text(f"{BROKEN}\n")
    assert "user::broken !" not in printed("problems", "list").out


def test_empty_audit_error_lists_accepted_arguments(typed):
    ended = typed("problems", "audit")
    assert (ended.exit_code, "--problems DIR" in ended.err) == (2, True)


def test_terminal_shows_how_many_are_audited(problems, console, terminal):
    shown = replace(console, err=terminal(), environment={**console.environment, "COLUMNS": "60"})
    options = parse(["problems", "audit", "--problems", str(problems)]).options
    assert audit.run(options, shown) == 1
    drawn = shown.err.getvalue().split("\r\x1b[2K")
    assert drawn == ["", f"{'░' * 24} 0/1", "", f"{'█' * 24} 1/1", ""]
