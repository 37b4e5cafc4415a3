"""`--ascii`: every command prints nothing but ASCII, a name's other letters spelled out; documents stay whole."""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.model import Finding, Outcome, Plan, Severity, Stream
from engine.model.benchmark import (
    CANDIDATE,
    CaseBenchmark,
    Comparison,
    Interval,
    Method,
    Span,
    Standing,
    Timing,
)
from engine.model.events import CaseBenchmarked, Event, FindingRaised, LogWritten, ProfileTaken
from kgtui.cli.command_line import command_parsers, parse, program_parser
from kgtui.cli.commands.problems import check as problems_check
from kgtui.cli.console import Console
from kgtui.cli.resolved_settings import in_signs
from kgtui.generation.demo.order import RECORDING
from sessions import open_store

if TYPE_CHECKING:
    from tests.kgtui.cli.conftest import PreparedEngine

NAME = "silü_日本.py"
SOURCE = "# kgtui: op=aten::silu\nBLOCK = 1024  # µ\n\n\ndef silu(self):\n    return self\n"
GENERATED = ["silu", "--model", "replay:alpha", "--strategy", "refine", "--device", "cpu", "--target", "none"]
COMMANDS = {
    "check": ["check", NAME, "--profile"],
    "bench": ["bench", NAME, "--profile", "--device", "cuda"],
    "inspect": ["inspect", NAME],
    "targets": ["targets", NAME],
    "tune": ["tune", NAME, "--set", "BLOCK=64,128"],
    "problems": ["problems"],
    "problems show": ["problems", "show", "silu"],
    "problems check": ["problems", "check", "silu"],
    "problems audit": ["problems", "audit", "silu"],
    "suites list": ["suites", "list"],
    "generate": ["generate", *GENERATED],
    "demo": ["demo"],
    "cost": ["cost"],
    "report": ["report", "3"],
    "new": ["new", "softmax", "möglich.py"],
    "sessions": ["sessions"],
    "sessions list": ["sessions", "list", "--runs"],
    "sessions show": ["sessions", "show", "1"],
    "sessions note": ["sessions", "note", "1", "schön ±"],
    "sessions restore": ["sessions", "restore", "1", "--output", "zurück.py"],
    "sessions tag": ["sessions", "tag", "1", "schön"],
    "sessions export": ["sessions", "export", "--format", "csv"],
    "sessions delete": ["sessions", "delete", "1", "--yes"],
    "sessions compact": ["sessions", "compact"],
    "compare": ["compare", "1", "2"],
    "export-case": ["export-case", "1"],
    "doctor": ["doctor"],
    "config": ["config"],
    "config init": ["config", "init"],
    "config set": ["config", "set", "editor", "vï"],
    "config get": ["config", "get", "editor"],
    "paths": ["paths"],
    "manual": ["manual"],
    "schema": ["schema"],
    "manual page": ["manual", "keys"],
}


def timed(plan: Plan) -> Sequence[Event]:
    """Every case that is to be timed, with intervals, and where the time went."""
    exact = Interval(value=10.0, low=9.5, high=10.5)
    timing = Timing(side=CANDIDATE, method=Method.CUPTI, device_us=exact, call_us=exact)
    eager = Comparison(baseline="eager", speedup=exact, resolution=0.01, standing=Standing.FASTER)
    cases = plan.benchmark.cases if plan.benchmark else ()
    profile = ProfileTaken(at_s=0.4, spans=(Span(name="verify", count=2, busy_s=0.1, began_s=0.1, ended_s=0.4),))
    return (
        *(
            CaseBenchmarked(
                at_s=0.3, number=number, total=len(cases),
                benchmark=CaseBenchmark(
                    case=case.name, outcome=Outcome.PASS, cache=plan.benchmark.cache, elapsed_s=0.1, timing=timing,
                    comparisons=(eager,), calls=9, verified=9,
                ),
            )
            for number, case in enumerate(cases, start=1) if plan.benchmark
        ),
        profile,
    )  # fmt: skip


@pytest.fixture
def run_in_ascii(
    console: Console, engine: PreparedEngine, folder: Path, home: Path, gpu: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[int, str]]]:
    """Carry out a command with `--ascii` on a store with two runs of a file with a strange name."""
    (folder / NAME).write_text(SOURCE, encoding="utf-8")
    (folder / "möglich").mkdir()
    engine.timed = timed
    engine.extra = (
        LogWritten(at_s=0.1, stream=Stream.STDOUT, text="naïve ±\N{NO-BREAK SPACE}形状"),
        FindingRaised(at_s=0.1, finding=Finding(check="a", severity=Severity.HINT, message="±5 µs… of 日本")),
    )

    breach = problems_check.Breach(rule="margin", text="±5 µs of 日本")
    report = problems_check.Report(rules=2, complaints=(breach,), error="")
    monkeypatch.setattr(problems_check, "applied", lambda source, name, environment: report)
    console = replace(console, environment={**console.environment, "KGTUI_REPLAY": str(RECORDING)})

    def run(*arguments: str, outcome: Outcome = Outcome.PASS) -> tuple[int, str]:
        engine.outcome = outcome
        typed = parse([*arguments, "--ascii"])
        more: dict[str, Any] = {"engine_factory": engine} if takes_engine(typed.run) else {}
        exit_code = typed.run(typed.options, in_signs(typed.options, console), **more)
        assert isinstance(console.out, io.StringIO) and isinstance(console.err, io.StringIO)
        said = console.out.getvalue() + console.err.getvalue()
        for stream in (console.out, console.err):
            stream.seek(0)
            stream.truncate()
        return exit_code, said

    run("check", NAME, "--cases", "smoke", "--device", "cpu", outcome=Outcome.WRONG_VALUE)
    run("check", NAME, "--cases", "smoke", "--device", "cpu")
    with open_store(home / "sessions.db") as store:
        store.set_note(2, "schöner ×")
    yield run


def takes_engine(run: Callable[..., int]) -> bool:
    return "engine_factory" in inspect.signature(run).parameters


def test_each_command_has_ascii_option_and_test() -> None:
    names = {parser.prog.removeprefix("kgtui ") for parser in command_parsers()}
    tried = {parse(typed).options.command for typed in COMMANDS.values()}
    elsewhere = {"open", "mcp", "sessions", "problems", "config", "config unset", "export-proof", "replay"}
    elsewhere |= {"suites", "suites add", "suites remove"}
    assert tried | elsewhere == names
    assert all("--ascii" in parser.format_help() for parser in command_parsers())


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_command_output_is_ascii(run_in_ascii: Callable[..., tuple[int, str]], arguments: list[str]) -> None:
    if arguments[0] in {"cost", "report"}:
        run_in_ascii("generate", *GENERATED)
    _, said = run_in_ascii(*arguments)
    assert said
    assert [line for line in said.splitlines() if not line.isascii()] == []


@pytest.mark.parametrize("parser", [program_parser(), *command_parsers()], ids=lambda parser: parser.prog)
def test_the_help_is_ascii(parser: Any) -> None:
    assert parser.format_help().isascii()


def test_missing_store_is_reported_in_ascii(typed: Any, home: Path) -> None:
    (home / "sessions.db").mkdir(parents=True)
    ended = typed("mcp", "--ascii", "--device", "cpu", "--target", "none")
    assert "the server does not start without a store" in ended.err
    assert (ended.exit_code, ended.out, ended.err.isascii()) == (2, "", True)


def test_a_removed_setting_is_ascii(run_in_ascii: Callable[..., tuple[int, str]]) -> None:
    run_in_ascii("config", "set", "editor", "vï")
    assert run_in_ascii("config", "unset", "editor")[1].isascii()


def test_letters_are_escaped_and_symbols_have_ascii_form(
    run_in_ascii: Callable[..., tuple[int, str]],
) -> None:
    assert "sil\\xfc_\\u65e5\\u672c.py" in run_in_ascii("sessions", "list", "--runs")[1]
    assert "sch\\xf6ner x" in run_in_ascii("sessions", "list", "--runs")[1]
    assert "+-5 us... of \\u65e5\\u672c" in run_in_ascii("check", NAME)[1]


def test_documents_keep_unicode_under_ascii(run_in_ascii: Callable[..., tuple[int, str]]) -> None:
    document = json.loads(run_in_ascii("sessions", "export", "2")[1])
    assert "schöner ×" in json.dumps(document, ensure_ascii=False)
    assert NAME in run_in_ascii("check", NAME, "--markdown", "--no-store")[1]


def test_unicode_names_are_printed_without_option(typed: Any, home: Path) -> None:
    assert typed("new", "softmax", "möglich.py").out.startswith("created möglich.py for ")


def test_ascii_applies_before_command_and_to_errors(typed: Any) -> None:
    assert typed("--ascii", "new", "softmax", "möglich.py").out.startswith("created m\\xf6glich.py for ")
    assert "m\\xf6glich.py" in typed("new", "softmax", "möglich.py", "--ascii").err
    assert "unrecognized arguments: \\xfc" in typed("paths", "ü", "--ascii").err


def test_settings_file_selects_ascii(typed: Any, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("ascii = true\n")
    assert typed("new", "softmax", "möglich.py").out.startswith("created m\\xf6glich.py for ")


@pytest.mark.parametrize(("is_terminal", "is_ascii"), [(True, True), (False, False)])
def test_terminal_without_symbols_gets_ascii_but_pipe_names(
    console: Console, terminal: type[io.StringIO], is_terminal: bool, is_ascii: bool
) -> None:
    out = terminal() if is_terminal else io.StringIO()
    linux = Console(
        out=out,
        err=console.err,
        stdin=console.stdin,
        environment={**console.environment, "TERM": "linux"},
        folder=console.folder,
    )
    assert in_signs(parse(["paths"]).options, linux).is_ascii is is_ascii


def test_encoding_without_symbols_selects_ascii(console: Console) -> None:
    class Latin(io.StringIO):
        encoding = "iso-8859-1"

    latin = Console(
        out=Latin(), err=console.err, stdin=console.stdin, environment=console.environment, folder=console.folder
    )
    assert in_signs(parse(["paths"]).options, latin).is_ascii is True
