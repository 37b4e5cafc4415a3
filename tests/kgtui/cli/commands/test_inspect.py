"""`kgtui inspect`: what it runs, the page that it prints, what it keeps, and how it ends."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from engine.model import CacheState, Finding, Location, Outcome, Plan, Policy, Severity, Tier
from engine.model.benchmark import (
    CaseBenchmark,
    Comparison,
    Interval,
    Method,
    Standing,
    Summary,
    Timing,
)
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    Event,
    FindingRaised,
    LayerChecked,
)
from engine.model.layers import Coverage, Layer, LayerReport, left_out_report
from kgtui.cli.command_line import command_parsers, parse
from kgtui.cli.commands import inspect
from sessions import RunFilter, open_store
from tests.kgtui.cli.documents import require_valid

MOMENT = datetime(2026, 3, 14, 15, 2, 10, tzinfo=UTC)


@pytest.fixture
def inspected(console, engine) -> Callable[..., tuple[int, str, str]]:
    """Type `kgtui inspect`, with the prepared engine; exit code, output, error stream."""

    def run(*arguments: object) -> tuple[int, str, str]:
        options = parse(["inspect", *map(str, arguments)]).options
        exit_code = inspect.run(options, console, engine_factory=engine, now=lambda: MOMENT)
        assert isinstance(console.out, io.StringIO)
        assert isinstance(console.err, io.StringIO)
        return exit_code, console.out.getvalue(), console.err.getvalue()

    return run


def times(*, low: float, high: float) -> Callable[[Plan], Sequence[Event]]:
    """All bench cases, timed well, between so many times as fast as each baseline."""

    def timed(plan: Plan) -> Sequence[Event]:
        assert plan.benchmark is not None
        speedup = Interval(value=(low + high) / 2, low=low, high=high)
        baselines, cases = plan.benchmark.baselines, plan.benchmark.cases
        timing = Timing(side="candidate", method=Method.CUPTI, device_us=Interval(value=5, low=4, high=6), call_us=None)
        compared = tuple(
            Comparison(baseline=name, speedup=speedup, resolution=0.01, standing=Standing.FASTER) for name in baselines
        )
        return [
            *(
                CaseBenchmarked(
                    at_s=0.3,
                    number=number,
                    total=len(cases),
                    benchmark=CaseBenchmark(
                        case=case.name,
                        outcome=Outcome.PASS,
                        cache=CacheState.COLD,
                        elapsed_s=1.0,
                        timing=timing,
                        comparisons=compared,
                    ),
                )
                for number, case in enumerate(cases, start=1)
            ),
            BenchmarkSummarised(
                at_s=0.3,
                summaries=tuple(
                    Summary(baseline=name, speedup=speedup, cases=len(cases), planned=len(cases), fast={})
                    for name in baselines
                ),
            ),
        ]

    return timed


# What is refused before anything is started


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--claim", "fast"), "invalid claim 'fast': expected a speed-up above 0 such as 2.3x"),
        (("--claim", "2x torch"), "the claim '2x torch' names an unknown baseline, 'torch': use one of compile, "),
        (("--claim", "2x", "eager"), "unrecognized arguments: eager"),
        (("--json", "--html"), "not allowed with argument"),
        (("--policy", "lax"), "invalid choice: 'lax'"),
    ],
)
def test_arguments_that_cannot_be(typed, kernel, arguments, complaint):
    ended = typed("inspect", "silu.py", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert complaint in ended.err


def test_no_file_at_all(typed):
    ended = typed("inspect")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: which file? `kgtui inspect FILE --op OP` verifies a kernel file, --sample the sample\n",
    )


def test_help_states_effect_of_claim_on_exit_code():
    (parser,) = (one for one in command_parsers() if one.prog == "kgtui inspect")
    assert "0 the claim is supported or exceeded,\n1 it is not supported, 3 it was not measured" in parser.format_help()


# What is run


def test_smoke_and_full_cases_are_verified_bench_timed(inspected, engine, kernel, gpu):
    engine.timed = times(low=1.9, high=2.0)
    exit_code, _, _ = inspected("silu.py", "--policy", "strict")
    (plan,) = engine.plans
    assert exit_code == 0
    assert {case.tier for case in plan.cases} == {Tier.SMOKE, Tier.FULL}
    assert (plan.device, plan.policy) == ("cuda", Policy.STRICT)
    assert plan.benchmark is not None
    assert {case.tier for case in plan.benchmark.cases} == {Tier.BENCH}
    assert plan.benchmark.baselines == ("eager",)
    assert plan.benchmark.ends_s == 4.8


def test_baseline_of_claim_is_timed_beside_eager(inspected, engine, kernel, gpu):
    engine.timed = times(low=1.9, high=2.0)
    inspected("silu.py", "--claim", "1.5x compile")
    assert engine.plans[0].benchmark.baselines == ("eager", "compile")
    assert engine.plans[0].benchmark.ends_s is None


def test_on_the_cpu_nothing_is_timed(inspected, engine, kernel, no_gpu):
    inspected("silu.py")
    assert engine.plans[0].benchmark is None


# What is printed


def test_page_is_stdout_and_progress_is_stderr(inspected, engine, kernel, no_gpu):
    report = LayerReport(layer=Layer.STATIC, by="checks", coverage=Coverage.CHECKED)
    engine.extra = [LayerChecked(at_s=0.1, report=report)]
    _, out, err = inspected("silu.py")
    assert out.splitlines()[:5] == ["aten::silu: pass", "silu.py run #1", "", "as prepared", ""]
    assert "  static         checked       not required by the policy\n" in out
    assert out.endswith("  inspected at  2026-03-14T15:02:10+00:00\n")
    assert err.splitlines()[0].startswith("run      started aten::silu silu.py run #1 on cpu")
    assert err.splitlines()[-1] == "verdict  pass as prepared, in 0.40 s"


def test_json_holds_source_line_and_versions(inspected, engine, kernel, no_gpu):
    found = Finding(check="a", severity=Severity.HINT, message="look", location=Location(line=6))
    engine.extra = [FindingRaised(at_s=0.1, finding=found)]
    document = require_valid(inspected("silu.py", "--json")[1])
    assert document["schema"] == "kgtui.inspect/1"
    assert document["findings"][0]["code"] == "return self * torch.sigmoid(self)"
    assert {"kgtui", "torch", "triton", "python"} <= set(document["versions"])


@pytest.mark.parametrize("option", ["--markdown", "--md"])
def test_markdown_by_either_name(inspected, kernel, option):
    assert inspected("silu.py", option)[1].startswith("# aten::silu: pass\n\n`silu.py run #1`\n\n**as prepared**\n")


def test_html_is_one_whole_file(inspected, kernel):
    out = inspected("silu.py", "--html")[1]
    assert (out.splitlines()[0], out.splitlines()[-1]) == ("<!doctype html>", "</html>")


@pytest.mark.parametrize(
    ("arguments", "environment", "has_colour"),
    [((), {"TERM": "xterm"}, True), (("--plain",), {"TERM": "xterm"}, False), ((), {"NO_COLOR": "1"}, False)],
)
def test_colour_requires_capable_terminal(console, engine, kernel, home, terminal, arguments, environment, has_colour):
    out = terminal()
    coloured = dataclasses.replace(console, out=out, environment={"KGTUI_HOME": str(home), **environment})
    options = parse(["inspect", "silu.py", *arguments]).options
    inspect.run(options, coloured, engine_factory=engine)
    assert out.getvalue().startswith("\x1b[1m\x1b[32maten::silu: pass\x1b[0m\n") == has_colour
    assert ("\x1b" in out.getvalue()) == has_colour


def test_run_is_stored_under_command_name(inspected, kernel, home):
    inspected("silu.py")
    with open_store(home / "sessions.db") as store:
        (session,) = store.sessions()
        (run,) = store.runs(RunFilter(session=session.id))
        assert (session.label, run.outcome) == ("inspect", Outcome.PASS)


def test_nothing_is_stored_on_request(inspected, kernel, home):
    _, out, _ = inspected("silu.py", "--no-store")
    assert "  run           not saved\n" in out
    assert not home.exists()


def test_unparsable_file_has_a_page(inspected, engine, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\ndef silu(self:\n")
    exit_code, out, _ = inspected("k.py")
    assert (exit_code, engine.plans) == (1, [])
    assert out.startswith("aten::silu: compile error\nk.py run #1\n\nk.py:2:9: syntax error: '(' was never closed")


def test_binary_file_has_a_page(inspected, folder):
    (folder / "k.py").write_bytes(b"\xff\xfe\x00")
    exit_code, out, _ = inspected("k.py", "--op", "silu")
    assert exit_code == 1
    assert out.startswith("aten::silu: compile error\n")


# How it ends


@pytest.mark.parametrize(
    ("claim", "exit_code", "backing"),
    [
        ("2.3x", 1, "not supported"),
        ("2x", 0, "supported"),
        ("1.5x", 0, "exceeded"),
        ("1.5x compile", 0, "exceeded"),
    ],
)
def test_claim_decides_for_passing_kernel(inspected, engine, kernel, gpu, claim, exit_code, backing):
    engine.timed = times(low=1.9, high=2.0)
    ended, out, _ = inspected("silu.py", "--claim", claim, "--json")
    document = require_valid(out)
    assert (ended, document["claim"]["backing"], document["verdict"]["outcome"]) == (exit_code, backing, "pass")
    assert document["headline"] == ("as prepared, but not 2.3x against eager" if exit_code else "as prepared")


def test_unmeasured_claim_fails_command(inspected, kernel, no_gpu):
    exit_code, out, _ = inspected("silu.py", "--claim", "2x")
    assert exit_code == 3
    assert "the claim of 2x against eager was not measured: kernels were executed on the" in out


@pytest.mark.parametrize("claim", [(), ("--claim", "1.5x")], ids=["no claim", "a claim"])
@pytest.mark.parametrize(
    ("outcome", "flagged", "exit_code"),
    [
        (Outcome.PASS, True, 4),
        (Outcome.CHEATED, False, 4),
        (Outcome.TAMPERED, False, 4),
        (Outcome.WRONG_VALUE, False, 1),
        (Outcome.REFUSED, False, 2),
        (Outcome.ENGINE_ERROR, False, 3),
    ],
)
def test_supported_claim_does_not_change_verdict(inspected, engine, kernel, no_gpu, claim, outcome, flagged, exit_code):
    engine.outcome, engine.flagged = outcome, flagged
    assert inspected("silu.py", *claim)[0] == exit_code


def test_missing_benchmark_exits_with_3(inspected, engine, kernel, gpu):
    exit_code, _, err = inspected("silu.py")
    assert exit_code == 3
    assert "cases were not timed, and the engine gave no reason" in err


def only_the_first_case(plan: Plan) -> Sequence[Event]:
    """The first bench case is timed, and the others are left out so that the run ends soon."""
    assert plan.benchmark is not None
    first, *_ = times(low=1.9, high=2.0)(plan)
    planned = len(plan.benchmark.cases)
    return [first, LayerChecked(at_s=0.3, report=left_out_report(planned - 1, planned=planned))]


def test_inspect_with_some_cases_excluded_ends_with_0(inspected, engine, kernel, gpu):
    engine.timed = only_the_first_case
    exit_code, _, err = inspected("silu.py")
    assert exit_code == 0
    assert "cases were not timed, and the engine gave no reason" not in err


def test_inspect_without_cases_fails_command(inspected, engine, kernel, gpu):
    engine.timed = lambda plan: only_the_first_case(plan)[1:]
    assert inspected("silu.py")[0] == 3
