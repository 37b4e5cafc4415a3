"""`kgtui schema`: every JSON document is valid against its published schema, and every key is described."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from engine.model import Outcome
from engine.model.events import EVENT_TYPES
from kgtui.cli.command_line import command_parsers
from kgtui.schemas import FOLDER, schema_names, schema_text
from tests.kgtui.cli.documents import require_valid, require_valid_as

ROOT = Path(__file__).parents[4]
SCHEMA_BY_COMMAND = {
    "kgtui bench": "check",
    "kgtui check": "check",
    "kgtui compare": "compare",
    "kgtui cost": "cost",
    "kgtui demo": "models",
    "kgtui doctor": "doctor",
    "kgtui generate": "models",
    "kgtui inspect": "inspect",
    "kgtui problems audit": "audit",
    "kgtui problems check": "rules",
    "kgtui problems list": "problems",
    "kgtui problems show": "problems",
    "kgtui replay": "replay",
    "kgtui report": "models",
    "kgtui sessions list": "sessions",
    "kgtui sessions show": "check",
    "kgtui targets": "check",
    "kgtui tune": "tune",
}
"""Of each command with `--json`, the schema that a test of its own validates a document against."""
GOLDEN = sorted((ROOT / "tests/engine").glob("*/golden/*.json"))


def properties(node: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Every key that a schema describes, at any depth."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield from node["properties"].items()
        for inner in node.values():
            yield from properties(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from properties(inner)


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_valid_and_describes_every_key(name):
    schema = json.loads(schema_text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    described = [(key, value.get("description", "")) for key, value in properties(schema)]
    assert described
    assert [key for key, words in described if not str(words).endswith(".")] == []


def test_every_command_with_json_has_a_schema():
    with_json = {parser.prog for parser in command_parsers() if "--json" in parser.format_help()}
    assert with_json == set(SCHEMA_BY_COMMAND)
    assert set(SCHEMA_BY_COMMAND.values()) <= set(schema_names())


def test_the_names_are_listed_and_one_is_printed(typed):
    lines = typed("schema").out.splitlines()
    assert [line.split()[0] for line in lines] == list(schema_names())
    assert typed("schema", "check").out == (FOLDER / "check.json").read_text()


def test_an_unknown_name_lists_the_known_ones(typed):
    ended = typed("schema", "chek")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err == (
        "kgtui: no such schema: 'chek'; "
        "use one of audit, batch, check, compare, cost, doctor, event, inspect, models, problems, replay, rules, "
        "session, sessions, tune\n"
    )


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_a_golden_document_is_valid(path):
    require_valid(path.read_text())


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.WRONG_VALUE])
def test_a_run_is_valid(checked, engine, kernel, outcome):
    engine.outcome = outcome
    assert require_valid(checked("silu.py", "--json", "--cases", "smoke").out)["run"] == 1


def test_sessions_and_comparisons_are_valid(typed, checked, engine, kernel):
    checked("silu.py", "--cases", "smoke")
    engine.outcome = Outcome.WRONG_VALUE
    checked("silu.py", "--cases", "smoke")
    assert len(require_valid(typed("sessions", "export", "1").out)["runs"]) == 1
    assert len(require_valid(typed("compare", "1", "2", "--json").out)["sides"]) == 2


def test_lists_of_sessions_and_runs_are_valid(typed, checked, engine, kernel):
    checked("silu.py", "--cases", "smoke")
    sessions = require_valid(typed("sessions", "list", "--json").out)
    assert ([row["id"] for row in sessions["sessions"]], sessions["runs"]) == ([1], None)
    runs = require_valid(typed("sessions", "list", "--find", "op:silu", "--json").out)
    assert ([row["id"] for row in runs["runs"]], runs["sessions"]) == ([1], None)


def test_saved_run_is_the_document_of_the_check(typed, checked, engine, kernel):
    printed = require_valid(checked("silu.py", "--json", "--cases", "smoke").out)
    shown = require_valid(typed("sessions", "show", "--json").out)
    assert (shown["run"], shown["cases"], shown["verdict"]) == (1, printed["cases"], printed["verdict"])


def test_every_exported_event_is_valid(typed, checked, engine, kernel):
    checked("silu.py", "--cases", "smoke")
    lines = typed("sessions", "export", "1", "--format", "jsonl").out.splitlines()
    events = [require_valid_as("event", json.loads(line))["event"] for line in lines]
    assert (events[0], events[-1]) == ("RunStarted", "RunFinished")


def test_event_missing_key_of_its_kind_is_refused():
    with pytest.raises(jsonschema.ValidationError):
        require_valid_as("event", {"run": 1, "event": "LogWritten", "at_s": 0.0, "stream": "stdout"})


def test_event_schema_lists_kinds_with_required_keys():
    published = {kind["title"]: kind["required"] for kind in json.loads(schema_text("event"))["oneOf"]}
    required = {
        name: [field.name for field in dataclasses.fields(kind) if _is_required(field)]
        for name, kind in EVENT_TYPES.items()
    }
    assert published == required


def _is_required(field):
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def test_operators_are_valid(typed):
    require_valid(typed("problems", "show", "softmax", "--json").out)


def test_a_key_that_is_not_published_is_refused(typed):
    document = json.loads(typed("problems", "show", "softmax", "--json").out)
    document["problems"][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'extra' was unexpected"):
        require_valid(json.dumps(document))
