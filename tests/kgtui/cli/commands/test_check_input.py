"""Wrong input of `kgtui check`: files, operators, devices, targets and options."""

from __future__ import annotations

import json

import pytest

from engine.model import Outcome
from sessions import open_store


def test_missing_file_is_usage_error(typed):
    ended = typed("check", "none.py", "--op", "silu")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.endswith("none.py does not exist; create it with `kgtui new`, or name another file\n")


def test_a_folder(typed, folder):
    ended = typed("check", ".", "--op", "silu")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: . is a folder; a candidate is one Python file, and --candidates . verifies a folder of them\n",
    )


def test_unreadable_file_is_refused(typed, console, public_folder, without_root):
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
        "kgtui: --sample verifies the sample; to verify silu.py, omit --sample\n",
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
        "kgtui: k.py names no operator: give --op OP, or start the file with `# kgtui: op=aten::softmax`\n",
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
    assert (ended.exit_code, ended.err) == (2, "kgtui: unknown device 'tpu': use one of cpu, cuda\n")


def test_absent_device_exits_with_3(typed, kernel, monkeypatch):
    monkeypatch.setattr("engine.devices.cuda.detect", tuple)
    ended = typed("check", "silu.py", "--device", "cuda")
    assert (ended.exit_code, ended.out) == (3, "")
    assert ended.err.startswith("kgtui: there is no cuda device on this machine; `kgtui doctor` lists ")


def test_an_unknown_target_suggests_the_nearest(typed, kernel):
    ended = typed("check", "silu.py", "--target", "sm90")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: unknown target 'sm90': expected sm_NN or gfxNNN; did you mean sm_90?\n",
    )


@pytest.mark.parametrize("command", [("check",), ("bench",), ("inspect",), ("tune",), ("targets",)])
def test_unsupported_target_is_refused_by_every_command(typed, kernel, command):
    ended = typed(*command, "silu.py", "--target", "sm_999", "--device", "cpu")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith("kgtui: unsupported target 'sm_999'; use one of sm_75, sm_80, ")


def test_unsupported_target_in_kernel_file_names_file(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu target=sm_999\ndef silu(self): ...\n")
    ended = typed("check", "k.py", "--device", "cpu")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: k.py, its `# kgtui:` line: unsupported target 'sm_999'; ")


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


@pytest.mark.parametrize(
    "arguments", [("--output", "x.csv"), ("--resume",), ("--jobs", "2"), ("--no-timing",)], ids=lambda typed: typed[0]
)
def test_batch_options_need_candidates(typed, kernel, folder, arguments):
    ended = typed("check", "silu.py", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith(f"kgtui: {arguments[0]} needs many candidates")


@pytest.mark.parametrize(
    "arguments", [("--cap", "4"), ("--size", "N=4"), ("--precision", "fp16")], ids=lambda typed: typed[0]
)
def test_sizes_of_suites_need_a_suite(typed, kernel, arguments):
    ended = typed("check", "silu.py", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err == f"kgtui: {arguments[0]} is for operators of a suite: name one with --suite PATH\n"


def test_cases_in_the_file_that_cannot_be(typed, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu cases=\n")
    ended = typed("check", "k.py")
    assert (ended.exit_code, ended.err) == (2, "kgtui: k.py, its `# kgtui:` line: cases= should be smoke or full\n")


def test_unknown_directive_of_the_file_is_named(checked, folder):
    (folder / "k.py").write_text("# kgtui: op=aten::silu bar=1 smoke\ndef silu(self): ...\n")
    words = "unknown bar=1 smoke; known are op=, cases= and target="
    assert f"kgtui: k.py, its `# kgtui:` line: {words}\n" in checked("k.py").err


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


@pytest.mark.parametrize("name", ["answer.txt", "rows.jsonl", "solution.json"])
def test_file_of_candidates_refused_with_option(typed, folder, name):
    (folder / name).write_text("{}")
    ended = typed("check", name, "--op", "silu")
    assert ended.exit_code == 2
    assert f"--candidates {name} reads answers, rows and Solutions" in ended.err


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
