"""`kgtui schema`: every JSON document is valid against its published schema, and every key is described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from engine.model import Outcome
from kgtui.schemas import FOLDER, schema_names, schema_text

ROOT = Path(__file__).parents[4]
GOLDEN = sorted((ROOT / "tests/engine").glob("*/golden/*.json"))


def require_valid(document: str) -> dict[str, object]:
    """The document, checked against the schema that it names."""
    plain = json.loads(document)
    name = plain["schema"].removeprefix("kgtui.").partition("/")[0]
    jsonschema.Draft202012Validator(json.loads(schema_text(name))).validate(plain)
    return plain


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


def test_the_names_are_listed_and_one_is_printed(typed):
    lines = typed("schema").out.splitlines()
    assert [line.split()[0] for line in lines] == list(schema_names())
    assert typed("schema", "check").out == (FOLDER / "check.json").read_text()


def test_an_unknown_name_lists_the_known_ones(typed):
    ended = typed("schema", "chek")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err == (
        "kgtui: no such schema: 'chek'; "
        "use one of audit, batch, check, compare, cost, doctor, inspect, models, problems, replay, session, tune\n"
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


def test_operators_are_valid(typed):
    require_valid(typed("problems", "show", "softmax", "--json").out)


def test_a_key_that_is_not_published_is_refused(typed):
    document = json.loads(typed("problems", "show", "softmax", "--json").out)
    document["problems"][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'extra' was unexpected"):
        require_valid(json.dumps(document))
