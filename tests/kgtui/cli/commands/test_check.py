"""`kgtui check`: what it refuses, what it prints, what it keeps, and how it ends."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path

import pytest

from engine.model import Artefact, CompiledKernel, Finding, Launch, Outcome, Policy, Severity, Stream, Tier
from engine.model.events import FindingRaised, KernelCompiled, KernelDisassembled, LogWritten
from kgtui.cli import main
from kgtui.cli.command_line import parse
from kgtui.cli.commands import check
from kgtui.cli.runs import run_command
from sessions import RunFilter, open_store

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


# What is refused before anything is started


def test_a_file_that_is_not_there(typed):
    ended = typed("check", "none.py", "--op", "silu")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.endswith("none.py does not exist; make it with `kgtui new`, or name another file\n")


def test_a_folder(typed, folder):
    ended = typed("check", ".", "--op", "silu")
    assert (ended.exit_code, ended.err) == (2, f"kgtui: {folder} is a folder; a candidate is one Python file\n")


def test_a_file_that_may_not_be_read(typed, console, public_folder, without_root):
    path = public_folder / "secret.py"
    path.write_text("x = 1\n")
    path.chmod(0)
    with without_root():
        ended = typed("check", path, "--op", "silu")
    assert ended.exit_code == 2
    assert ended.err == f"kgtui: {path} cannot be read: Permission denied; check its permissions\n"


def test_no_file_at_all(typed):
    ended = typed("check")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: which file? `kgtui check FILE --op OP` verifies a kernel file, --sample the sample\n",
    )


def test_a_file_beside_the_sample(typed, kernel):
    ended = typed("check", "silu.py", "--sample")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: --sample verifies the sample; to verify silu.py, leave --sample out\n",
    )


def test_an_unknown_operator_suggests_the_nearest(typed, kernel):
    ended = typed("check", "silu.py", "--op", "aten::sofmax")
    assert ended.exit_code == 2
    assert "there is no operator called 'aten::sofmax'; did you mean aten::softmax" in ended.err


def test_unknown_operator_in_file_names_the_file(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::sillu\n")
    ended = typed("check", "k.py")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: k.py, its `# kgtui:` line: there is no operator called 'aten::sillu'; did you")


def test_a_file_that_does_not_name_its_operator(typed, folder):
    (folder / "k.py").write_text("def silu(self): ...\n")
    ended = typed("check", "k.py")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: k.py does not say which operator it is for: give --op OP, "
        "or begin the file with `# kgtui: op=aten::softmax`\n",
    )


def test_a_binary_file_without_an_operator(typed, folder):
    (folder / "k.cubin").write_bytes(b"\x7fELF\0\0")
    ended = typed("check", "k.cubin")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: k.cubin is a binary file; a candidate is one Python file in UTF-8\n",
    )


def test_an_unknown_device(typed, kernel):
    ended = typed("check", "silu.py", "--device", "tpu")
    assert (ended.exit_code, ended.err) == (2, "kgtui: 'tpu' is no device: use one of cpu, cuda\n")


def test_a_device_that_is_not_here(typed, kernel, monkeypatch):
    monkeypatch.setattr("engine.devices.cuda.detect", tuple)
    ended = typed("check", "silu.py", "--device", "cuda")
    assert (ended.exit_code, ended.out) == (3, "")
    assert ended.err.startswith("kgtui: there is no cuda device on this machine; `kgtui doctor` lists ")


def test_an_unknown_target_suggests_the_nearest(typed, kernel):
    ended = typed("check", "silu.py", "--target", "sm90")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: 'sm90' is no target: expected sm_NN or gfxNNN; did you mean sm_90?\n",
    )


@pytest.mark.parametrize("command", [("check",), ("bench",), ("inspect",), ("tune",), ("targets",)])
def test_unsupported_target_is_refused_by_every_command(typed, kernel, command):
    ended = typed(*command, "silu.py", "--target", "sm_999", "--device", "cpu")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith("kgtui: 'sm_999' is no target that Triton compiles for; use one of sm_75, sm_80, ")


def test_unsupported_target_in_kernel_file_names_file(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu target=sm_999\ndef silu(self): ...\n")
    ended = typed("check", "k.py", "--device", "cpu")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: k.py, its `# kgtui:` line: 'sm_999' is no target that Triton compiles for; ")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cases"], "argument --cases: expected one argument"),
        (["--cases", ""], "argument --cases: invalid choice: ''"),
        (["--cases", "bench"], "argument --cases: invalid choice: 'bench'"),
        (["--json", "--plain"], "not allowed with argument"),
        (["--seed", "-1"], "argument --seed: expected a number from 1 on, got '-1'"),
        (["--jsno"], "unrecognized arguments: --jsno; `kgtui check --help` shows the arguments"),
    ],
)
def test_options_that_cannot_be(typed, kernel, arguments, complaint):
    ended = typed("check", "silu.py", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert complaint in ended.err
    assert ended.err.endswith("--help` shows the arguments\n")


def test_cases_in_the_file_that_cannot_be(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu cases=\n")
    ended = typed("check", "k.py")
    assert (ended.exit_code, ended.err) == (2, "kgtui: k.py, its `# kgtui:` line: cases= should be smoke or full\n")


# Files that are no candidates get their verdict without an engine


def test_syntax_error_is_reported_with_line_and_column(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\nx = 1\ndef silu(self:\n")
    ended = typed("check", "k.py")
    assert ended.exit_code == 1
    verdict = ended.out.splitlines()[-1]
    assert verdict.startswith("verdict  compile_error k.py:3:9: syntax error: '(' was never closed")


def test_file_without_entry_is_reported_at_once(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\ndef silo(self): ...\n")
    ended = typed("check", "k.py")
    assert ended.exit_code == 1
    assert "k.py does not define 'silu', the function that is called; rename 'silo'?" in ended.out


def test_a_binary_file_for_an_operator_fails(typed, folder):
    (folder / "k.py").write_bytes(b"\0\1\2")
    ended = typed("check", "k.py", "--op", "silu")
    assert ended.exit_code == 1
    assert "k.py is a binary file; a candidate is one Python file in UTF-8" in ended.out


def test_unparsable_file_starts_no_engine_and_is_stored(checked, engine, folder, home):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\n(\n")
    assert checked("k.py").exit_code == 1
    assert engine.plans == []
    with open_store(home / "sessions.db") as store:
        (run,) = store.runs()
        assert (run.outcome, run.path) == (Outcome.COMPILE_ERROR, folder / "k.py")
        assert [type(event).__name__ for event in store.events(run.id)] == [
            "RunStarted",
            "StageStarted",
            "StageFinished",
            "RunFinished",
        ]


def test_a_syntax_error_is_a_json_document_too(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu\n(\n")
    document = json.loads(typed("check", "k.py", "--json").out)
    assert document["verdict"]["location"] == {"line": 2, "column": 1}


# How it ends


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


# What is judged


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


# What is printed


def test_plain_lines_end_at_the_verdict(checked, engine, kernel):
    engine.extra, engine.after = [COMPILED], [SASS]
    ended = checked("silu.py", "--cases", "smoke", "--target", "sm_90", "--device", "cpu")
    assert ended.err == ""
    assert ended.out.splitlines()[0] == (
        "run      started aten::silu silu.py run #1 on cpu (a device), 3 cases, compiled for sm_90"
    )
    assert ended.out.splitlines()[-1] == "verdict  pass as prepared, in 0.40 s"


def test_candidate_output_goes_to_stderr(checked, engine, kernel):
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
def test_colour_is_for_terminals_that_want_it(
    console, engine, kernel, home, terminal, arguments, environment, has_colour
):
    engine.extra = [FindingRaised(at_s=0.1, finding=Finding(check="a_check", severity=Severity.HINT, message="look"))]
    out = terminal()
    coloured = dataclasses.replace(console, out=out, environment={"KGTUI_HOME": str(home), **environment})
    options = parse(["check", "silu.py", *arguments]).options
    check.run(options, coloured, engine_factory=engine)
    assert ("verdict  \x1b[32mpass\x1b[0m as prepared" in out.getvalue()) == has_colour
    assert ("finding  \x1b[33mhint\x1b[0m a_check look" in out.getvalue()) == has_colour
    assert ("\x1b" in out.getvalue()) == has_colour


# What is kept


def test_event_is_stored_before_it_is_printed(checked, kernel, home, monkeypatch):
    kinds = {"run": "RunStarted", "case": "CaseFinished", "verdict": "RunFinished"}
    printed, missing = run_command.tell, []

    def look(request, console, line):
        with sqlite3.connect(home / "sessions.db") as connection:
            stored = {kind for (kind,) in connection.execute("select kind from events")}
        missing.extend({kinds[line.label]} - stored if line.label in kinds else ())
        printed(request, console, line)

    monkeypatch.setattr(run_command, "tell", look)
    ended = checked("silu.py", "--cases", "smoke")
    assert [line.split()[0] for line in ended.out.splitlines()][-1] == "verdict"
    assert missing == []


def test_run_is_stored_in_session_with_environment(checked, kernel, home):
    checked("silu.py", "--cases", "smoke", "--device", "cpu")
    with open_store(home / "sessions.db") as store:
        (session,) = store.sessions()
        (run,) = store.runs(RunFilter(session=session.id))
        assert (session.label, session.ended_at is None) == ("check", False)
        assert (run.outcome, run.path, run.tiers) == (Outcome.PASS, kernel, (Tier.SMOKE,))
        assert {"kgtui", "torch", "triton", "python", "device"} <= set(store.environment(session.id))


def test_nothing_is_stored_on_request(checked, engine, kernel, home):
    ended = checked("silu.py", "--no-store", "--json")
    assert json.loads(ended.out)["run"] is None
    assert not home.exists()
    assert not engine.artefacts.folder.exists()


def test_compiled_code_goes_to_users_folder(checked, engine, kernel, home):
    checked("silu.py")
    assert engine.artefacts.folder == home / "artefacts"


def _make_damaged(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def _make_newer(path: Path) -> None:
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 999")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(_make_damaged, "not a readable session store"), (_make_newer, "has schema version 999"), (Path.mkdir, "folder")],
    ids=["damaged", "newer", "folder"],
)
def test_unusable_store_is_reported_and_run_continues(checked, kernel, home, spoil, reason):
    home.mkdir()
    spoil(home / "sessions.db")
    ended = checked("silu.py")
    assert ended.exit_code == 0
    assert ended.err.startswith(f"kgtui: the run continues, but is not saved: {home}/sessions.db: ")
    assert reason in ended.err


def test_unwritable_home_is_reported_and_run_continues(console, engine, public_folder, without_root, kernel):
    (public_folder / "silu.py").write_text(kernel.read_text())
    (public_folder / "home").mkdir(mode=0o555)
    readable = dataclasses.replace(
        console, environment={"KGTUI_HOME": str(public_folder / "home")}, folder=public_folder
    )
    options = parse(["check", "silu.py"]).options
    check.run(options, console, engine_factory=engine)  # everything that is imported late, while it can be read
    with without_root():
        exit_code = check.run(options, readable, engine_factory=engine)
    assert exit_code == 0
    assert "the run continues, but is not saved: " in console.err.getvalue()
    assert "compiled code is not saved: " in console.err.getvalue()
    assert engine.artefacts.folder.parent != public_folder / "home"


# ---------------------------------------------------------------- policies


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


def test_a_policy_that_there_is_not_is_refused(typed, kernel):
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
