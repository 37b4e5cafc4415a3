"""`kgtui generate`, `demo`, `cost`, `report` and `compare --models` over recorded answers and a prepared engine."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from engine.errors import StoreError, UsageError
from engine.model import Outcome
from kgtui.cli.command_line import parse
from kgtui.cli.commands import demo, generate
from kgtui.generation.demo.order import RECORDING
from kgtui.schemas import schema_text
from sessions import open_store
from tests.kgtui.cli.conftest import PreparedEngine
from tests.kgtui.cli.documents import require_valid
from tests.kgtui.generation.wire_server import Reply, served

ALPHA = ("--model", "replay:alpha", "--device", "cpu", "--target", "none")
SILU = Path(__file__).parents[4] / "problems" / "aten" / "silu.py"
SECRET = "sk-secret-0123456789abcdef"


@pytest.fixture
def console(console):
    return replace(console, environment={**console.environment, "KGTUI_REPLAY": str(RECORDING)})


@pytest.fixture
def generated(console, engine):
    """Type `kgtui generate`, with the prepared engine."""

    def run(*arguments, module=generate, name="generate"):
        options = parse([name, *map(str, arguments)]).options
        return module.run(options, console, engine_factory=engine)

    return run


def printed(console):
    text = console.out.getvalue()
    console.out.seek(0)
    console.out.truncate()
    return text


def refine(*operators):
    return (*operators, *ALPHA, "--strategy", "refine", "--rounds", "2")


def test_answer_is_verified_and_shown_in_matrix(generated, console):
    assert generated(*refine("silu")) == 0
    out = printed(console)
    assert "[1/2] aten::silu replay:alpha round-1: passed (run #1): as prepared" in out
    assert "batch 1 finished: 1 answer, 1 passed" in out


def test_failed_answer_is_refined_and_fails(generated, console, engine):
    engine.outcome = Outcome.WRONG_VALUE
    assert generated(*refine("softmax")) == 1
    assert "round-2: wrong value (run #2)" in printed(console)


def test_errors_without_any_verdict_end_with_3(generated, console):
    assert generated("silu", *ALPHA) == 3
    assert "the recording has no answer of alpha at sample-1" in printed(console)


def test_generated_runs_are_tagged_and_have_no_file(generated, home):
    generated(*refine("silu"))
    with open_store(home / "sessions.db", read_only=True) as store:
        (run,) = store.runs()
    assert (run.tag, run.note, run.path) == ("generated", "replay:alpha round-1", None)


def test_json_is_one_document_without_progress(generated, console):
    generated(*refine("silu"), "--json")
    document = json.loads(printed(console))
    jsonschema.Draft202012Validator(json.loads(schema_text("models"))).validate(document)
    assert document["models"] == ["replay:alpha"]
    assert "batch 1 finished" in console.err.getvalue()


def test_resume_requests_only_missing_answers(generated, console, home):
    generated("silu", "softmax", *ALPHA, "-n", "1")  # the recording has no sample-1, so both fail
    with open_store(home / "sessions.db", read_only=True) as store:
        assert {row.state for row in store.generations.of_batch(1)} == {"failed"}
    generated("silu", "softmax", *ALPHA, "-n", "1", "--resume")
    assert "batch 1 ended with errors" in printed(console)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-n", "2", "--strategy", "refine"), "-n has no effect with the strategy refine; use --rounds and"),
        (("--rounds", "2"), "--rounds has no effect with the strategy single; use -n"),
        (("--target-speedup", "2"), "--target-speedup has no effect with the strategy single; use -n"),
    ],
)
def test_option_without_effect_on_strategy_is_refused(generated, words, sentence):
    with pytest.raises(UsageError, match=sentence):
        generated("silu", *ALPHA, *words)


def test_generating_without_a_store_is_refused_once(generated, console, home):
    (home / "sessions.db").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"must be stored, so nothing is generated: .*a folder"):
        generated("silu", *ALPHA)
    assert console.err.getvalue() == ""


def test_resume_without_a_batch_is_refused(generated):
    with pytest.raises(UsageError, match="no unfinished batch has these arguments"):
        generated(*refine("silu"), "--resume")


def test_a_pattern_names_operators(generated, console):
    generated(*refine("aten::s[io]*"))
    out = printed(console)
    assert "aten::silu" in out
    assert "aten::softmax" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope", *ALPHA), "no operator called 'nope'"),
        (("nope::*", *ALPHA), "no operator matches 'nope::"),
        (("silu", "--model", "m"), "expected PROVIDER:MODEL"),
        (("silu", "--model", "x:m"), "unknown provider 'x'"),
        (("silu", *ALPHA, "--budget", "0usd"), "a budget of 0 allows no request"),
        (("silu", "--model", "openai:m", "--device", "cpu"), "OPENAI_API_KEY is not set"),
    ],
)
def test_bad_input_gets_a_sentence(generated, arguments, words):
    with pytest.raises(UsageError, match=words):
        generated(*arguments)


def test_a_money_budget_without_a_price_is_refused(generated, console):
    generated(*refine("silu"), "--budget", "1usd")
    assert "the price of this model is unknown" in printed(console)


class TestDemo:
    @pytest.fixture
    def shown(self, generated, console):
        assert generated(module=demo, name="demo") == 0
        return printed(console)

    def test_demo_prints_matrix_and_costs(self, shown):
        assert all(title in shown for title in ("Models and operators", "Metrics", "Cost by model"))
        assert shown.count("passed (run #") == 6

    def test_demo_makes_no_user_store(self, shown, home):
        assert not (home / "sessions.db").exists()

    def test_json_is_one_document(self, generated, console):
        assert generated("--json", module=demo, name="demo") == 0
        assert len(require_valid(printed(console))["cells"]) == 6


class TestReading:
    @pytest.fixture(autouse=True)
    def stored(self, generated, console):
        generated(*refine("silu"), "--model", "replay:beta")
        printed(console)

    def test_costs_of_unknown_session_are_refused(self, typed):
        ended = typed("cost", "--session", "99")
        assert (ended.exit_code, ended.out) == (2, "")
        assert ended.err.startswith("kgtui: there is no session 99 in ")

    def test_costs_name_unknown_values(self, typed):
        assert "replay:alpha  1        2,140  0       412     0          unknown" in typed("cost").out

    @pytest.mark.parametrize("by", ["model", "operator", "day", "session"])
    def test_costs_are_grouped(self, typed, by):
        document = json.loads(typed("cost", "--by", by, "--json").out)
        jsonschema.Draft202012Validator(json.loads(schema_text("cost"))).validate(document)
        assert sum(one["answers"] for one in document["rows"]) == 2

    @pytest.mark.parametrize(
        ("flag", "start"),
        [("--html", "<!doctype html>"), ("--md", "# Session 1"), ("--csv", "operator,")],
    )
    def test_a_report_has_every_form(self, typed, flag, start):
        assert typed("report", 1, flag).out.startswith(start)

    def test_a_report_as_json_is_valid(self, typed):
        document = require_valid(typed("report", 1, "--json").out)
        assert (document["schema"], sorted(document["models"])) == ("kgtui.models/1", ["replay:alpha", "replay:beta"])

    def test_a_report_of_nothing_is_refused(self, typed):
        ended = typed("report", 99)
        assert ended.exit_code == 2

    def test_models_are_compared_over_operators(self, typed):
        out = typed("compare", "silu", "--models", "replay:alpha,replay:beta").out
        assert "replay:alpha - replay:beta" in out

    def test_an_operator_of_a_folder_is_compared(self, typed, folder):
        (folder / "rope.py").write_text(SILU.read_text().replace("aten::silu", "user::rope"))
        assert "no operator called 'user::rope'" in typed("compare", "user::rope", "--models", "replay:alpha").err
        ended = typed("compare", "user::rope", "--models", "replay:alpha", "--problems", folder)
        assert (ended.exit_code, ended.err) == (0, "")

    def test_an_unknown_model_is_named(self, typed):
        assert "no answers of 'x:y' are stored" in typed("compare", "--models", "x:y").err

    def test_too_few_answers_give_no_estimate(self, generated, console):
        assert generated(*refine("aten::*"), "--estimate") == 0
        assert "cost unknown: 1 stored answer, 0 of known cost" in printed(console)


def test_the_prompt_of_an_operator_is_shown(typed):
    out = typed("problems", "show", "softmax", "--prompt", "--target", "sm_90").out
    assert "compiled for sm_90" in out
    assert out.startswith("# system")


def test_user_template_replaces_default(typed, home):
    (home / "prompts").mkdir(parents=True)
    (home / "prompts" / "system.md.j2").write_text("Write {{ entry }} well.")
    assert typed("problems", "show", "softmax", "--prompt").out.startswith("# system\n\nWrite softmax well.")


def test_a_broken_template_is_named(typed, home):
    (home / "prompts").mkdir(parents=True)
    (home / "prompts" / "problem.md.j2").write_text("{% if %}")
    ended = typed("problems", "show", "softmax", "--prompt")
    assert (ended.exit_code, "prompt template problem.md.j2 line 1" in ended.err) == (2, True)


def test_api_key_is_written_to_no_file(generated, console, home, folder, monkeypatch):
    monkeypatch.setattr("kgtui.generation.retrying.MOST_ATTEMPTS", 1)
    environment = {**console.environment, "OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}
    options = parse(["generate", *refine("silu"), "--model", "openai:m@http://127.0.0.1:9/v1"]).options
    noisy = replace(console, environment=environment)
    engine = PreparedEngine()
    assert generate.run(options, noisy, engine_factory=engine) == 0
    left = b"".join(path.read_bytes() for place in (home, folder) for path in place.rglob("*") if path.is_file())
    assert b"replay" in left
    assert SECRET.encode() not in left
    assert isinstance(noisy.out, io.StringIO)
    assert SECRET not in noisy.out.getvalue() + noisy.err.getvalue()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_key_repeated_by_service_is_stored_nowhere(provider, console, engine, home, folder):
    code = f"```python\ndef silu(self): ...\n# {SECRET}\n```\n"
    repeats = Reply(pieces=(f"Your key is {SECRET[:9]}", f"{SECRET[9:]}.\n\n{code}"))
    refuses = Reply(status=401, content_type="application/json", body=f'{{"error": {{"message": "no {SECRET}"}}}}')
    with served(repeats, refuses) as url:
        base = f"{url}/v1" if provider == "openai" else url
        environment = {**console.environment, "OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}
        keyed = replace(console, environment=environment)
        two_samples = ["-n", "2", "--concurrency", "1"]  # a refused key cancels requests in progress
        options = parse(["generate", "silu", "--model", f"{provider}:m@{base}", *ALPHA[2:], *two_samples]).options
        generate.run(options, keyed, engine_factory=engine)
    left = b"".join(path.read_bytes() for place in (home, folder) for path in place.rglob("*") if path.is_file())
    shown = keyed.out.getvalue() + keyed.err.getvalue()
    assert b"Your key is [key]" in left
    assert "answered 401 (check the key in " in shown
    assert SECRET.encode() not in left
    assert SECRET not in shown
