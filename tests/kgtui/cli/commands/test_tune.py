"""`kgtui tune`: which variants are judged and kept, and that the user's file is written only after a yes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.devices import Device
from engine.errors import UsageError
from engine.model import CacheState, Outcome, Plan
from engine.model.benchmark import CANDIDATE, CaseBenchmark, Interval, Summary, Timing
from engine.model.events import BenchmarkSummarised, CaseBenchmarked, Event
from kgtui.cli.command_line import parse
from kgtui.cli.commands import tune
from kgtui.cli.console import Console
from sessions import open_store
from sessions.rows import RunFilter
from tests.kgtui.cli.documents import require_valid

if TYPE_CHECKING:
    from tests.kgtui.cli.conftest import PreparedEngine, Terminal, Typed

SOURCE = """# kgtui: op=aten::silu
BLOCK = 1024


def silu(self):
    return self
"""


@pytest.fixture
def tunable(folder: Path) -> Path:
    path = folder / "silu.py"
    path.write_text(SOURCE)
    return path


def spoken(console: Console, engine: PreparedEngine, *arguments: object) -> tuple[int, str, str]:
    """Type `kgtui tune`; the exit code and what it printed."""
    options = parse(["tune", *map(str, arguments)]).options
    exit_code = tune.run(options, console, engine_factory=engine)
    out, err = console.out, console.err
    assert isinstance(out, io.StringIO) and isinstance(err, io.StringIO)
    return exit_code, out.getvalue(), err.getvalue()


def timed_by_turn(*speedups: float) -> Any:
    """The benchmarks of one run after another, each against eager and so many times as fast."""
    left = list(speedups)

    def timed(plan: Plan) -> Sequence[Event]:
        value = left.pop(0)
        timing = Timing(side=CANDIDATE, method=None, device_us=None, call_us=None)
        one = CaseBenchmark(case="a", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=0.1, timing=timing)
        speedup = Interval(value=value, low=value - 0.05, high=value + 0.05)
        summary = Summary(baseline="eager", speedup=speedup, cases=1, planned=1, fast={})
        return (
            CaseBenchmarked(at_s=0.3, number=1, total=1, benchmark=one),
            BenchmarkSummarised(at_s=0.3, summaries=(summary,)),
        )

    return timed


def test_every_variant_is_tagged_run_with_values_noted(
    console: Console, engine: PreparedEngine, tunable: Path, home: Path, no_gpu: None
) -> None:
    exit_code, out, _ = spoken(console, engine, tunable, "--set", "BLOCK=64,1024,128")
    assert (exit_code, len(engine.plans)) == (0, 3)
    with open_store(home / "sessions.db", read_only=True) as store:
        runs = store.runs(RunFilter(problem="aten::silu"), limit=9)
        assert [(run.tag, run.note) for run in runs] == [
            ("tune", "BLOCK=128"),
            ("tune", "BLOCK=64"),
            ("tune", "as it is"),
        ]
        assert len({run.session for run in runs}) == 1
    assert "nothing was timed on this device, so no variant is proposed" in out
    assert tunable.read_text() == SOURCE


def test_only_the_values_differ_from_the_file(
    console: Console, engine: PreparedEngine, tunable: Path, home: Path, no_gpu: None
) -> None:
    spoken(console, engine, tunable, "--set", "BLOCK=64")
    with open_store(home / "sessions.db", read_only=True) as store:
        newest = store.runs(RunFilter(problem="aten::silu"), limit=1)[0]
        assert store.source(newest.digest).decode() == SOURCE.replace("1024", "64")


def asked(console: Console, terminal: type[Terminal], answer: str) -> Console:
    """The same console in a terminal, where somebody types an answer."""
    return replace(console, out=terminal(), err=terminal(), stdin=terminal(answer))


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("yes\n", True), ("n\n", False), ("", False)])
def test_the_winner_is_written_only_after_a_yes(
    console: Console,
    engine: PreparedEngine,
    tunable: Path,
    gpu: Device,
    terminal: type[Terminal],
    answer: str,
    written: bool,
) -> None:
    engine.timed = timed_by_turn(1.0, 1.5, 1.2)
    _, out, _ = spoken(asked(console, terminal, answer), engine, tunable, "--set", "BLOCK=64,128")
    assert "-BLOCK = 1024\n+BLOCK = 64\n" in out
    assert tunable.read_text() == (SOURCE.replace("1024", "64") if written else SOURCE)


def test_a_file_that_changed_meanwhile_is_not_written(
    console: Console, engine: PreparedEngine, tunable: Path, gpu: Device, terminal: type[Terminal]
) -> None:
    engine.timed = timed_by_turn(1.0, 1.5)
    engine.on_event = lambda event: tunable.write_text("# mine\n") and None
    with pytest.raises(UsageError, match="has changed since it was read, so nothing was written"):
        spoken(asked(console, terminal, "y\n"), engine, tunable, "--set", "BLOCK=64")
    assert tunable.read_text() == "# mine\n"


def test_difference_without_terminal_is_shown_not_written(
    console: Console, engine: PreparedEngine, tunable: Path, gpu: Device
) -> None:
    engine.timed = timed_by_turn(1.0, 1.5)
    _, out, _ = spoken(console, engine, tunable, "--set", "BLOCK=64")
    assert "+BLOCK = 64" in out
    assert out.endswith("nothing was written: confirmation needs a terminal\n")
    assert tunable.read_text() == SOURCE


def test_document_holds_every_trial_and_missing_proposal(
    console: Console, engine: PreparedEngine, tunable: Path, no_gpu: None
) -> None:
    exit_code, out, _ = spoken(console, engine, tunable, "--set", "BLOCK=64", "--json")
    document = require_valid(out)
    assert (exit_code, document["schema"], document["proposed"]) == (0, "kgtui.tune/1", None)
    assert [trial["variant"] for trial in document["trials"]] == ["as it is", "BLOCK=64"]
    assert document["why_none"].startswith("nothing was timed")


def test_tuning_without_correct_variant_fails(
    console: Console, engine: PreparedEngine, tunable: Path, no_gpu: None
) -> None:
    engine.outcome = Outcome.WRONG_VALUE
    exit_code, out, _ = spoken(console, engine, tunable, "--set", "BLOCK=64")
    assert exit_code == 1
    assert "no variant passed, so none is proposed" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "has no autotune list to choose from: give values, such as --set BLOCK=512,1024,2048; it has BLOCK=1024"),
        (
            ("--set", "BLOCK=big"),
            "'BLOCK=big' should be a name and whole numbers of at most 64 bits, such as num_warps=2,4,8",
        ),
        (("--set", "BLOK=64"), "'BLOK' is not tunable"),
    ],
)
def test_a_grid_that_cannot_be_made_is_refused(
    typed: Typed, tunable: Path, arguments: Sequence[str], words: str
) -> None:
    ended = typed("tune", tunable, *arguments)
    assert ended.exit_code == 2
    assert words in ended.err
