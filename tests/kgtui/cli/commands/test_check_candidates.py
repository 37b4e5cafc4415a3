"""`kgtui check --candidates`: results as they come, kept for --resume, in every form."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace

import jsonschema
import pytest

from engine.errors import UsageError
from engine.model import CaseResult, Diagnosis, DiagnosisKind, Explanation, Outcome, OutputReport, Tier
from engine.model.events import CaseFinished, RunFinished
from kgtui.cli.command_line import parse
from kgtui.cli.commands import check
from kgtui.schemas import schema_text
from sessions import open_store

SILU = "def silu(self):\n    return self  # {}\n"


@pytest.fixture
def candidates(folder):
    place = folder / "candidates"
    place.mkdir()
    for number in range(3):
        (place / f"silu_{number}.py").write_text(SILU.format(number))
    (place / "nope.py").write_text(SILU)
    return place


@pytest.fixture
def batch(checked, candidates, console):
    """Type `kgtui check --candidates`, and take what was printed."""

    def run(*arguments):
        ended = checked("--candidates", "candidates", "--device", "cpu", "--target", "none", *arguments)
        for stream in (console.out, console.err):
            stream.seek(0)
            stream.truncate()
        return ended

    return run


def test_each_candidate_is_a_row_with_its_run(batch):
    ended = batch()
    assert ended.exit_code == 0
    assert "[2/4] passed        silu_0.py  aten::silu sample 0  run #1: as prepared" in ended.out
    assert "not run       nope.py: names no known operator" in ended.out
    assert ended.out.endswith("batch 1: 4/4 candidates: 3 passed, 1 not run\n")


def test_results_are_numbered_in_order(batch, candidates):
    for name in ("none.py", "nope_2.py"):
        (candidates / name).write_text(SILU)
    (candidates / "silu_9.py").write_text(SILU.format(0))  # the source of silu_0.py, so one run for both
    lines = [line.split() for line in batch().out.splitlines() if line.startswith("[")]
    named = ["none.py:", "nope.py:", "nope_2.py:", "silu_0.py", "silu_9.py", "silu_1.py", "silu_2.py"]
    assert [line[0] for line in lines] == [f"[{number}/7]" for number in range(1, 8)]
    assert [next(word for word in line if word.rstrip(":").endswith(".py")) for line in lines] == named


def test_resumed_results_are_numbered_after_stored_ones(batch, candidates):
    batch()
    (candidates / "silu_1.py").write_text(SILU.format("changed"))
    lines = batch("--resume").out.splitlines()
    assert [line.partition(" ")[0] for line in lines if line.startswith("[")] == ["[1/4]", "[4/4]"]


@pytest.mark.parametrize(("arguments", "times"), [((), True), (("--no-timing",), False)])
def test_engine_is_told_whether_it_times(batch, engine, arguments, times):
    batch(*arguments)
    assert engine.times == [times]


def test_stored_diagnosis_is_printed_and_kept(batch, engine):
    found = Diagnosis(kind=DiagnosisKind.MISSING_SCALE, sentence="exp2 used", evidence="3 match", explained=3, wrong=3)
    output = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, explanation=Explanation(diagnoses=(found,)))
    diagnosed = CaseResult(
        case="a case", tier=Tier.SMOKE, outcome=Outcome.WRONG_VALUE, elapsed_s=0.1, calls=1, seed=1, outputs=(output,)
    )
    engine.outcome, engine.extra = Outcome.WRONG_VALUE, (CaseFinished(at_s=0.1, number=1, total=1, result=diagnosed),)
    words = "as prepared; a case: return: looks like missing scale: exp2 used (explains all wrong elements; 3 match)"
    assert f"wrong value   silu_0.py  aten::silu sample 0  run #1: {words}\n" in batch().out
    assert f"| {words} |\n" in batch("--resume", "--markdown").out


def test_a_seed_is_refused(batch):
    with pytest.raises(UsageError, match="--seed is for one kernel file; leave it out with --candidates"):
        batch("--seed", "7")


def test_a_failure_is_the_exit_code(batch, engine):
    engine.outcome = Outcome.WRONG_VALUE
    assert batch().exit_code == 1


def test_runs_are_tagged_and_have_no_file(batch, home):
    batch()
    with open_store(home / "sessions.db", read_only=True) as store:
        run = store.runs()[-1]
    assert (run.tag, run.note, run.path) == ("batch", "batch 1: silu_0.py", None)


def test_candidates_are_called_by_their_own_file_names(batch, engine, candidates):
    (candidates / "silu_7.md").write_text(f"```python\n{SILU.format(7)}```\n")
    batch()
    names = sorted(candidate.filename for candidate in engine.candidates)
    assert names == ["silu.py", "silu_0.py", "silu_1.py", "silu_2.py"]  # an answer's code is in no file


class TestResuming:
    def test_only_candidates_without_result_are_run(self, batch, engine):
        engine.outcome = Outcome.CANCELLED
        assert batch().exit_code == 3
        engine.outcome = Outcome.PASS
        assert "batch 1: 4/4 candidates: 3 passed" in batch("--resume").out
        assert len(engine.plans) == 6
        again = batch("--resume")
        assert "batch 1: 3 of 4 results are already stored" in again.out
        assert (again.exit_code, len(engine.plans)) == (0, 6)

    def test_a_signal_loses_and_repeats_nothing(self, batch, engine, home):
        def interrupt(event):
            if isinstance(event, RunFinished) and len(engine.plans) == 2:
                os.kill(os.getpid(), signal.SIGINT)

        engine.on_event = interrupt
        assert batch().exit_code == 128 + signal.SIGINT
        engine.on_event = lambda event: None
        assert "batch 1: 4/4 candidates: 3 passed" in batch("--resume").out
        with open_store(home / "sessions.db", read_only=True) as store:
            finished = [run.digest for run in store.runs() if run.outcome is Outcome.PASS]
        assert len(finished) == len(set(finished)) == 3

    def test_a_changed_candidate_is_run_again(self, batch, engine, candidates):
        batch()
        (candidates / "silu_1.py").write_text(SILU.format("changed"))
        assert "2 of 4 results are already stored" in batch("--resume").out
        assert len(engine.plans) == 4

    def test_other_arguments_are_another_batch(self, batch):
        batch()
        with pytest.raises(UsageError, match="no stored batch has these arguments"):
            batch("--resume", "--cases", "smoke")


def test_the_same_source_is_run_once(batch, engine, candidates):
    (candidates / "silu_9.py").write_text(SILU.format(0))
    assert "4 passed" in batch().out
    assert len(engine.plans) == 3


def test_json_lines_are_valid(batch):
    ended = batch("--json")
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("batch")))
    documents = [json.loads(line) for line in ended.out.splitlines()]
    for document in documents:
        validator.validate(document)
    assert [one["kind"] for one in documents] == ["result"] * 4 + ["summary"]
    assert documents[-1]["groups"][0]["counts"]["passed"] == 3
    assert "4/4 candidates" in ended.err


def test_results_of_before_are_in_the_json_too(batch):
    batch()
    assert len(batch("--json", "--resume").out.splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.jsonl", '{"schema"'), ("r.csv", "candidate,"), ("r.md", "# Batch 1"), ("r.html", "<!doctype html>")],
)
def test_results_are_written_by_suffix(batch, folder, name, start):
    batch("--output", name)
    assert (folder / name).read_text().startswith(start)


def test_several_engines_give_the_same_results(batch, engine):
    assert "batch 1: 4/4 candidates: 3 passed" in batch("--jobs", "2").out
    assert engine.closed == 2


def test_nothing_is_saved_without_a_store(batch, home):
    assert "3 passed" in batch("--no-store").out
    assert not (home / "sessions.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("silu.py",), "leave FILE and --sample out"),
        (("--profile",), "--profile needs a single kernel file"),
        (("--resume", "--no-store"), "leave --no-store out"),
        (("--stages",), "--stages needs a single kernel file"),
        (("--output", "r.xml"), r"written as .jsonl, .csv, .md, .html"),
        (("--op", "nope"), "there is no operator called 'nope'"),
        (("--output", "none/r.csv"), r"none/r.csv cannot be written: the folder .*none does not exist; create it$"),
        (("--output", "folder.csv"), r"folder.csv is a folder; name a file$"),
    ],
)
def test_bad_input_gets_a_sentence(batch, engine, folder, arguments, words):
    (folder / "folder.csv").mkdir()
    with pytest.raises(UsageError, match=words):
        batch(*arguments)
    assert engine.plans == []


def test_a_bar_is_drawn_on_a_terminal_only(candidates, engine, console, terminal):
    shown = replace(console, err=terminal(), environment={**console.environment, "COLUMNS": "60"})
    options = parse(["check", "--candidates", "candidates", "--device", "cpu", "--target", "none"]).options
    assert check.run(options, shown, engine_factory=engine) == 0
    drawn = shown.err.getvalue().split("\r\x1b[2K")
    assert drawn[3] == f"{'█' * 6}{'░' * 18} 1/4  silu_0.py"
