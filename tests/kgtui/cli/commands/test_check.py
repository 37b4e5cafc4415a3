"""`kgtui check`: cases and targets of a run, exit codes, and its output on both streams."""

from __future__ import annotations

import dataclasses
import json

import pytest

from engine.model import Artefact, CompiledKernel, Finding, Launch, Outcome, Policy, Severity, Stream, Tier
from engine.model.events import FindingRaised, KernelCompiled, KernelDisassembled, LogWritten
from kgtui.cli import main
from kgtui.cli.command_line import parse
from kgtui.cli.commands import check
from kgtui.cli.runs import run_command

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)


COMPILED = KernelCompiled(
    at_s=0.2,
    number=1,
    total=1,
    kernel=CompiledKernel(launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.1, registers=8),
)


SASS = KernelDisassembled(at_s=0.5, number=1, artefact=Artefact(kind="sass", digest="ab" * 32, bytes=1))


@pytest.mark.parametrize(
    ("outcome", "exit_code"),
    [
        (Outcome.PASS, 0),
        (Outcome.WRONG_VALUE, 1), (Outcome.WRONG_SHAPE, 1), (Outcome.WRONG_DTYPE, 1), (Outcome.NONFINITE, 1),
        (Outcome.MUTATED_INPUT, 1), (Outcome.COMPILE_ERROR, 1), (Outcome.RUNTIME_ERROR, 1), (Outcome.OUT_OF_MEMORY, 1),
        (Outcome.TIMEOUT, 1), (Outcome.CRASHED, 1),
        (Outcome.REFUSED, 2),
        (Outcome.UNSUPPORTED, 3), (Outcome.ENGINE_ERROR, 3),
        (Outcome.CHEATED, 4), (Outcome.TAMPERED, 4),
        (Outcome.CANCELLED, 130),
    ],
)  # fmt: skip
def test_every_outcome_has_its_exit_code(checked, engine, kernel, outcome, exit_code):
    engine.outcome = outcome
    assert checked("silu.py").exit_code == exit_code


def test_flagged_pass_ends_with_its_own_code(checked, engine, kernel):
    engine.flagged = True
    ended = checked("silu.py")
    assert ended.exit_code == 4
    assert ended.out.splitlines()[-1] == "verdict  flagged as prepared, in 0.40 s"


def test_the_engine_is_closed_after_the_verdict(checked, engine, kernel):
    checked("silu.py")
    assert engine.closed == 1


def test_engine_error_is_one_line_and_closes_engine(console, engine, kernel, monkeypatch):
    def fail(event):
        raise ZeroDivisionError("on purpose")

    engine.on_event = fail
    monkeypatch.setattr(run_command, "real_engine", engine)
    assert main.run(["check", "silu.py"], console) == 3
    assert console.err.getvalue() == "kgtui: failed: ZeroDivisionError: on purpose; --debug shows the traceback\n"
    assert engine.closed == 1


def test_debug_shows_the_traceback(console, engine, kernel, monkeypatch):
    def fail(event):
        raise ZeroDivisionError("on purpose")

    engine.on_event = fail
    monkeypatch.setattr(run_command, "real_engine", engine)
    assert main.run(["check", "silu.py", "--debug"], console) == 3
    assert console.err.getvalue().startswith("Traceback (most recent call last):")


def test_full_cases_are_default_lightest_first(checked, engine, kernel):
    checked("silu.py")
    tiers = [case.tier for case in engine.plans[0].cases]
    assert set(tiers) == {Tier.SMOKE, Tier.FULL}
    assert tiers == sorted(tiers, key=[Tier.SMOKE, Tier.FULL].index)


def test_a_directive_chooses_the_cases(checked, engine, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu cases=smoke target=gfx942\ndef silu(self): ...\n")
    checked("k.py")
    assert {case.tier for case in engine.plans[0].cases} == {Tier.SMOKE}
    assert engine.plans[0].target == "gfx942"


@pytest.mark.parametrize(
    ("word", "options", "complains"),
    [("smoke", (), True), ("full", (), False), ("smoke", ("--cases", "smoke"), False)],
    ids=["smoke", "full", "option"],
)
def test_cases_that_the_file_leaves_out_are_counted(checked, engine, folder, word, options, complains):
    (folder / "k.py").write_text(f"# kgtui: op=aten::silu cases={word}\ndef silu(self): ...\n")
    ended = checked("k.py", *options)
    tiers = [case.tier for case in engine.plans[0].problem.cases if case.tier is not Tier.BENCH]
    counts = f"{tiers.count(Tier.FULL)} of {len(tiers)} cases"
    words = f"kgtui: k.py, its `# kgtui:` line: cases=smoke leaves out {counts}; --cases full verifies all\n"
    assert ended.err == (words if complains else "")


@pytest.mark.parametrize(
    ("target", "options", "complains"),
    [("none", (), True), ("gfx942", (), False), ("none", ("--target", "none"), False)],
    ids=["none", "a target", "option"],
)
def test_compilation_that_the_file_leaves_out_is_named(
    checked, engine, folder, monkeypatch, target, options, complains
):
    monkeypatch.setattr("engine.devices.cuda.detect", tuple)
    (folder / "k.py").write_text(f"# kgtui: op=aten::silu target={target}\ndef silu(self): ...\n")
    where = "kgtui: k.py, its `# kgtui:` line: target=none"
    words = f"{where} leaves out the compilation; --target sm_90 compiles its kernels\n"
    assert checked("k.py", *options).err == (words if complains else "")


def test_option_overrides_directive(checked, engine, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu cases=smoke target=gfx942\ndef mm(self, mat2): ...\n")
    checked("k.py", "--op", "mm", "--cases", "full", "--target", "none", "--device", "cpu")
    (plan,) = engine.plans
    assert (plan.problem.name, plan.target, plan.device) == ("aten::mm", None, "cpu")
    assert {case.tier for case in plan.cases} == {Tier.SMOKE, Tier.FULL}


def test_kernels_compile_for_sm_90_without_gpu(checked, engine, kernel, monkeypatch):
    monkeypatch.setattr("engine.devices.cuda.detect", tuple)
    checked("silu.py")
    assert (engine.plans[0].device, engine.plans[0].target) == ("cpu", "sm_90")


def test_sample_is_verified_in_its_folder(checked, engine, folder):
    assert checked("--sample").exit_code == 0
    assert engine.plans[0].problem.name == "aten::softmax"
    assert list(folder.iterdir()) == []


def test_cases_that_failed_last_time_go_first(checked, engine, kernel):
    engine.outcome = Outcome.WRONG_VALUE
    checked("silu.py", "--cases", "smoke")
    failed = {case.name for case in engine.plans[0].cases}
    engine.outcome = Outcome.PASS
    engine.plans.clear()
    checked("silu.py")
    assert {case.name for case in engine.plans[0].cases[: len(failed)]} == failed


def test_plain_lines_end_at_the_verdict(checked, engine, kernel):
    engine.extra, engine.after = [COMPILED], [SASS]
    ended = checked("silu.py", "--cases", "smoke", "--target", "sm_90", "--device", "cpu")
    assert ended.err == ""
    assert ended.out.splitlines()[0] == (
        "run      started aten::silu silu.py run #1 on cpu (a device), 3 cases, compiled for sm_90"
    )
    assert ended.out.splitlines()[-1] == "verdict  pass as prepared, in 0.40 s"


def test_candidate_output_is_written_to_stderr(checked, engine, kernel):
    engine.extra = [LogWritten(at_s=0.1, stream=Stream.STDOUT, text="verdict  pass\x1b[2J")]
    ended = checked("silu.py")
    assert ended.err == "log      stdout verdict  pass\\x1b[2J\n"


def test_json_is_one_document_with_progress_on_stderr(checked, engine, kernel):
    engine.extra, engine.after = [COMPILED], [SASS]
    ended = checked("silu.py", "--json")
    document = json.loads(ended.out)
    assert (document["schema"], document["run"], document["file"]) == ("kgtui.check/1", 1, "silu.py")
    assert [artefact["kind"] for artefact in document["kernels"][0]["artefacts"]] == ["sass"]
    assert ended.err.splitlines()[-1] == "verdict  pass as prepared, in 0.40 s"


def test_markdown_is_one_page(checked, kernel):
    assert checked("silu.py", "--markdown").out.startswith("# aten::silu: pass\n\nas prepared\n")


@pytest.mark.parametrize(
    ("arguments", "environment", "has_colour"),
    [
        ([], {"TERM": "xterm"}, True),
        (["--plain"], {"TERM": "xterm"}, False),
        ([], {"TERM": "xterm", "NO_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
    ],
)
def test_colour_requires_capable_terminal(console, engine, kernel, home, terminal, arguments, environment, has_colour):
    engine.extra = [FindingRaised(at_s=0.1, finding=Finding(check="a_check", severity=Severity.HINT, message="look"))]
    out = terminal()
    coloured = dataclasses.replace(console, out=out, environment={"KGTUI_HOME": str(home), **environment})
    options = parse(["check", "silu.py", *arguments]).options
    check.run(options, coloured, engine_factory=engine)
    assert ("verdict  \x1b[32mpass\x1b[0m as prepared" in out.getvalue()) == has_colour
    assert ("finding  \x1b[33mhint\x1b[0m a_check look" in out.getvalue()) == has_colour
    assert ("\x1b" in out.getvalue()) == has_colour


@pytest.mark.parametrize(("typed_policy", "policy"), [((), Policy.DEFAULT), *((("--policy", p), p) for p in Policy)])
def test_the_policy_reaches_the_plan(checked, engine, kernel, typed_policy, policy):
    checked("silu.py", *typed_policy)
    assert [plan.policy for plan in engine.plans] == [policy]


@pytest.mark.parametrize(
    ("typed_seed", "draws"), [((), (None, True)), (("--seed", "7"), (7, False)), (("--seed", "0"), (0, False))]
)
def test_the_seed_reaches_the_plan(checked, engine, kernel, typed_seed, draws):
    checked("silu.py", *typed_seed)
    assert [(plan.draw_seed, plan.chooses_seed) for plan in engine.plans] == [draws]


def test_unknown_policy_is_refused(typed, kernel):
    ended = typed("check", "silu.py", "--policy", "lenient")
    assert ended.exit_code == 2
    assert "invalid choice: 'lenient' (choose from 'default', 'strict', 'facts-only')" in ended.err


def test_unparsable_file_is_decided_under_its_policy(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\ndef silu(:\n")
    ended = typed("check", "k.py", "--policy", "strict", "--json")
    document = json.loads(ended.out)
    assert document["policy"] == "strict"
    assert document["verdict"]["sentence"].endswith(", by the strict policy")


def test_strict_policy_refuses_plain_torch_with_rule(typed, kernel):
    ended = typed("check", "silu.py", "--policy", "strict", "--device", "cpu", "--target", "none", "--no-store")
    assert ended.exit_code == 2
    lines = ended.out.splitlines()
    assert lines[0].endswith(", not compiled, strict policy")
    assert [line for line in lines if line.startswith(("load", "verify", "case"))] == []
    (verdict,) = (line for line in lines if line.startswith("verdict"))
    assert verdict.startswith("verdict  refused silu.py:2:1: not run, breaks a strict rule: The output is computed by ")
    assert "(no_kernel, line 2: " in verdict
    assert ", by the strict policy, in " in verdict
