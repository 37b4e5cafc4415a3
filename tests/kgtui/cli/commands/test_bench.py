"""`kgtui bench`: what it refuses, what it asks of the engine, what it prints, and how it ends."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Sequence

import pytest

from engine.judge import baselines
from engine.model import CacheState, CompiledKernel, Launch, Outcome, Plan, Policy, Tier
from engine.model.benchmark import (
    CANDIDATE,
    CaseBenchmark,
    Comparison,
    Holder,
    Interval,
    Method,
    Span,
    Standing,
    Timing,
)
from engine.model.events import CaseBenchmarked, DeviceAwaited, Event, KernelCompiled, ProfileTaken
from kgtui.cli.command_line import parse
from kgtui.cli.commands import bench
from sessions import open_store
from tests.kgtui.cli.documents import require_valid
from tests.operators import find

COMPILED = KernelCompiled(
    at_s=0.2,
    number=1,
    total=1,
    kernel=CompiledKernel(
        launch=Launch(
            kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
        ),
        target="sm_90",
        outcome=Outcome.PASS,
        elapsed_s=0.1,
        registers=32,
        spill_bytes=0,
        shared_bytes=0,
    ),
)
AWAITED = DeviceAwaited(
    at_s=0.3, holder=Holder(pid=123, command="kgtui bench other.py", since="2026-01-02T03:04:05+00:00")
)
PROFILE = ProfileTaken(at_s=0.4, spans=(Span(name="time cases", count=2, busy_s=0.1, began_s=0.3, ended_s=0.4),))


def timing(us: float | None = 10.0, *notes: str) -> Timing:
    if us is None:
        return Timing(side=CANDIDATE, method=None, device_us=None, call_us=None, notes=notes)
    exact = Interval(value=us, low=us, high=us)
    return Timing(side=CANDIDATE, method=Method.CUPTI, device_us=exact, call_us=exact, notes=notes)


def timed(**changes: object) -> Callable[[Plan], Sequence[Event]]:
    """Every case is timed and 2x as fast as eager; `changes` are of the first case alone."""

    def events(plan: Plan) -> Sequence[Event]:
        assert plan.benchmark is not None
        twice = Comparison(
            baseline="eager", speedup=Interval(value=2.0, low=1.9, high=2.1), resolution=0.01, standing=Standing.FASTER
        )
        usual = [
            CaseBenchmark(
                case=case.name,
                outcome=Outcome.PASS,
                cache=plan.benchmark.cache,
                elapsed_s=0.1,
                timing=timing(),
                comparisons=(twice,),
                calls=9,
                verified=9,
            )
            for case in plan.benchmark.cases
        ]
        cases = [dataclasses.replace(usual[0], **changes), *usual[1:]]
        return [
            CaseBenchmarked(at_s=0.3, number=number, total=len(cases), benchmark=case)
            for number, case in enumerate(cases, start=1)
        ]

    return events


# What is refused before anything is started


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cases", "bench", "silu.py"], "which file? put FILE before --cases and --baseline: they take every"),
        (["silu.py", "--cases", "bensh"], "unknown case 'bensh' of aten::silu: did you mean 'bench'? (`kgtui problems"),
        (["silu.py", "--cases", "?"], "unknown case '?' of aten::silu: use smoke, full, bench or a case's name"),
        (["silu.py", "--seconds", "0"], "argument --seconds: expected a number of seconds above 0, got '0'"),
        (["silu.py", "--seconds", "inf"], "argument --seconds: expected a number of seconds above 0, got 'inf'"),
        (["silu.py", "--seconds", "two"], "argument --seconds: expected a number of seconds above 0, got 'two'"),
        (["silu.py", "--baseline", "magic"], "argument --baseline: invalid choice: 'magic'"),
        (["silu.py", "--l2", "tepid"], "argument --l2: invalid choice: 'tepid'"),
        (["none.py", "--op", "silu"], "none.py does not exist"),
        ([], "which file? `kgtui bench FILE --op OP` verifies a kernel file, --sample the sample"),
    ],
)
def test_invalid_request_is_refused_with_next_step(typed, kernel, arguments, complaint):
    ended = typed("bench", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert complaint in ended.err


# What is asked of the engine


def test_smoke_and_full_cases_are_verified_bench_timed(benched, engine, kernel, gpu):
    engine.timed = timed()
    assert benched("silu.py").exit_code == 0
    (plan,) = engine.plans
    assert {case.tier for case in plan.cases} == {Tier.SMOKE, Tier.FULL}
    assert plan.device == "cuda"
    assert plan.benchmark is not None
    assert plan.benchmark.cases == tuple(case for case in plan.problem.cases if case.tier is Tier.BENCH)
    assert (plan.benchmark.cache, plan.benchmark.baselines, plan.benchmark.case_s) == (CacheState.COLD, ("eager",), 1.1)


def test_directive_for_check_does_not_weaken_verification(benched, engine, folder, gpu):
    engine.timed = timed()
    (folder / "k.py").write_text("# kgtui: op=aten::silu cases=smoke\ndef silu(self): ...\n")
    benched("k.py")
    assert {case.tier for case in engine.plans[0].cases} == {Tier.SMOKE, Tier.FULL}


def test_bench_options_reach_the_plan(benched, engine, kernel, gpu):
    engine.timed = timed()
    full = next(case for case in find("aten::silu").cases if case.tier is Tier.FULL)
    benched(
        "silu.py", "--l2", "warm", "--baseline", "compile", "eager", "--baseline", "compile", "--seconds", "0.5",
        "--cases", "smoke", "--cases", full.name,
    )  # fmt: skip
    plan = engine.plans[0].benchmark
    assert plan is not None
    assert (plan.cache, plan.baselines, plan.case_s) == (CacheState.WARM, ("compile", "eager"), 0.5)
    assert [case.name for case in plan.cases if case.tier is not Tier.SMOKE] == [full.name]
    assert len(plan.cases) > 1


def test_the_policy_reaches_the_plan(benched, engine, kernel, gpu):
    benched("silu.py", "--policy", "facts-only")
    assert [plan.policy for plan in engine.plans] == [Policy.FACTS_ONLY]


def test_new_baseline_file_can_be_requested(benched, engine, kernel, gpu, tmp_path, monkeypatch):
    engine.timed = timed()
    more = tmp_path / "more"
    more.mkdir()
    (more / "new_one.py").write_text('NAME = "new-one"\n\n\ndef available(): ...\n\n\ndef prepare(): ...\n')
    monkeypatch.setattr(baselines, "__path__", [*baselines.__path__, str(more)])
    assert benched("silu.py", "--baseline", "new-one").exit_code == 0
    assert engine.plans[0].benchmark.baselines == ("new-one",)


def test_cases_are_timed_once_in_problem_order(benched, engine, kernel, gpu):
    engine.timed = timed()
    first, *_, last = benched_cases(engine, benched, "bench")
    assert benched_cases(engine, benched, last.name, first.name, last.name) == (first, last)


def benched_cases(engine, benched, *names):
    engine.plans.clear()
    benched("silu.py", "--cases", *names)
    return engine.plans[0].benchmark.cases


# What is printed


def test_every_case_has_line_and_table_follows_verdict(benched, engine, kernel, gpu):
    engine.timed = timed()
    lines = benched("silu.py").out.splitlines()
    cases = [case.name for case in engine.plans[0].benchmark.cases]
    reported = [line for line in lines if line.startswith("timing ")]
    assert reported[0] == (
        f"timing   pass 1/{len(cases)} {cases[0]} device 10.00 us (10.00 .. 10.00), call 10.00 us (10.00 .. 10.00), "
        "eager 2.000x (1.900 .. 2.100) faster, cold L2, 0.1 s"
    )
    assert len(reported) == len(cases)
    verdict = next(place for place, line in enumerate(lines) if line.startswith("verdict  pass"))
    assert lines[verdict + 1] == ""
    assert lines[verdict + 2].startswith("case ")


@pytest.mark.parametrize("width", [80, 120])
def test_table_fits_the_terminal_width(benched, engine, kernel, gpu, console, width):
    console.environment["COLUMNS"] = str(width)
    engine.timed = timed()
    _, _, table = benched("silu.py", "--profile").out.partition("verdict ")
    assert max(map(len, table.splitlines()[1:])) <= width


def test_device_holder_is_reported(checked, engine, kernel):
    engine.extra = [AWAITED]
    assert (
        "device   busy waiting for the device: process 123 (kgtui bench other.py) has held it since "
        "2026-01-02T03:04:05+00:00\n"
    ) in checked("silu.py").out


def test_json_holds_timings_without_other_output(benched, engine, kernel, gpu):
    engine.timed = timed()
    ended = benched("silu.py", "--json")
    document = require_valid(ended.out)
    cases = [case.name for case in engine.plans[0].benchmark.cases]
    assert [case["case"] for case in document["benchmarks"]] == cases
    assert [cost["case"] for cost in document["costs"]] == cases
    assert document["benchmarks"][0]["timing"]["device_us"] == {"value": 10.0, "low": 10.0, "high": 10.0}
    assert "timing   pass 1/" in ended.err


def test_markdown_has_table_and_requested_profile(benched, engine, kernel, gpu):
    engine.timed = lambda plan: [*timed()(plan), PROFILE]
    assert "## Benchmark\n\n| case | device us | call us | vs eager |" in benched("silu.py", "--markdown").out
    assert "## Profile\n\n| work | count |" in benched("silu.py", "--markdown", "--profile").out


def test_profile_is_printed_on_request(checked, engine, kernel):
    engine.timed = lambda plan: [PROFILE]
    assert "time cases" not in checked("silu.py").out
    (line,) = [line for line in checked("silu.py", "--profile").out.splitlines() if line.startswith("time cases")]
    assert line.split()[2:6] == ["2", "0.100", "0.300", "0.400"]
    bar = line.rpartition(" ")[2]
    assert (bar.strip("█"), bar[-1]) == ("·" * (3 * len(bar) // 4), "█")


def test_a_console_that_has_no_blocks_gets_ascii(console, engine, kernel, gpu):
    engine.timed = lambda plan: [*timed()(plan), PROFILE]
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    options = parse(["bench", "silu.py", "--profile"]).options
    assert bench.run(options, dataclasses.replace(console, out=out), engine_factory=engine) == 0
    out.seek(0)
    text = out.read()
    assert "10.00 +-0.00" in text
    assert "\\" not in text


# Where there is no GPU


def test_missing_gpu_is_reported_first_and_nothing_timed(benched, engine, kernel, no_gpu):
    engine.extra = [COMPILED, dataclasses.replace(COMPILED, number=2)]
    ended = benched("silu.py")
    assert ended.exit_code == 0
    assert ended.out.splitlines()[0] == (
        "timing   unsupported kernels are executed on the CPU here: timings are meaningless, so nothing is timed; "
        "estimates without a clock follow the verdict"
    )
    assert engine.plans[0].benchmark is None
    _, _, known = ended.out.partition("verdict  pass ")
    assert "nothing was timed; lower bound of each case:\ncase " in known
    assert "resources of each kernel on sm_90, memory in bytes:\nkernel  count  warps  outcome  regs" in known
    assert "k           2      4     pass    32        0       0  100%, warps\n" in known
    assert " us" not in known


def test_the_least_work_is_that_of_the_problem(benched, engine, kernel, no_gpu):
    out = benched("silu.py").out
    problem = engine.plans[0].problem
    for case in (case for case in problem.cases if case.tier is Tier.BENCH):
        cost = problem.cost(case)
        (line,) = [line for line in out.splitlines() if line.startswith(f"{case.name}  ")]
        assert line.split()[-3:] == [f"{cost.bytes_read:,}", f"{cost.bytes_written:,}", f"{cost.flops:,}"]


def test_wrong_kernel_fails_without_gpu(benched, engine, kernel, no_gpu):
    engine.outcome = Outcome.WRONG_VALUE
    assert benched("silu.py").exit_code == 1


def test_documents_without_gpu_hold_least_work(benched, engine, kernel, no_gpu):
    document = require_valid(benched("silu.py", "--json").out)
    assert (document["benchmarks"], document["summaries"]) == ([], [])
    assert document["costs"]
    assert "## Not timed\n\n| case | bytes read | bytes written | operations |" in benched("silu.py", "--markdown").out


# How it ends


def test_failed_candidate_ends_as_in_check(benched, engine, kernel, gpu):
    engine.outcome, engine.timed = Outcome.WRONG_VALUE, timed()
    ended = benched("silu.py")
    assert ended.exit_code == 1
    assert "doubt       these times do not count: the verdict is wrong_value, as prepared\n" in ended.out


@pytest.mark.parametrize(
    ("outcome", "exit_code"),
    [(Outcome.UNSUPPORTED, 3), (Outcome.ENGINE_ERROR, 3), (Outcome.WRONG_VALUE, 1), (Outcome.TAMPERED, 4)],
)
def test_untimed_case_without_speedup_fails_command(benched, engine, kernel, gpu, outcome, exit_code):
    engine.timed = timed(outcome=outcome, message="CUPTI is missing")
    ended = benched("silu.py", "--cases", "bench")
    count, first = len(engine.plans[0].benchmark.cases), engine.plans[0].benchmark.cases[0].name
    assert ended.exit_code == exit_code
    assert ended.err == f"kgtui: 1 of {count} cases could not be timed: {first}: {outcome}: CUPTI is missing\n"
    assert [line for line in ended.out.splitlines() if first in line and "2.000" in line] == []


def test_case_without_device_time_fails_command(benched, engine, kernel, gpu):
    engine.timed = timed(timing=timing(None, "CUPTI could not start", "events were refused"))
    ended = benched("silu.py")
    count, first = len(engine.plans[0].benchmark.cases), engine.plans[0].benchmark.cases[0].name
    assert ended.exit_code == 3
    assert ended.err == (
        f"kgtui: 1 of {count} cases have no device time: {first}: CUPTI could not start; events were refused\n"
    )


def test_gpu_run_without_timing_fails_command(benched, engine, kernel, gpu):
    ended = benched("silu.py", "--cases", "bench")
    count = len(engine.plans[0].benchmark.cases)
    assert ended.exit_code == 3
    assert ended.err == f"kgtui: {count} of {count} cases were not timed, and the engine gave no reason\n"


def test_flagged_benchmark_ends_with_its_own_code(benched, engine, kernel, gpu):
    engine.flagged, engine.timed = True, timed()
    assert benched("silu.py").exit_code == 4


# What is kept


def test_benchmark_is_stored_by_name_and_shown_again(benched, typed, engine, kernel, gpu, home):
    engine.timed = timed()
    benched("silu.py")
    with open_store(home / "sessions.db") as store:
        (session,) = store.sessions()
        assert session.label == "bench"
    shown = typed("sessions", "show").out
    assert "timing   pass 1/" in shown
    assert "2.000 [1.900, 2.100] faster" in shown


def test_nothing_is_stored_on_request(benched, engine, kernel, gpu, home):
    engine.timed = timed()
    assert benched("silu.py", "--no-store").exit_code == 0
    assert not home.exists()
