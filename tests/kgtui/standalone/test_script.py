"""A stand-alone script holds its case whole; those of the corpus fail as their runs did, without kgtui."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.model import CaseResult, Outcome, OutOfBounds
from engine.model.parsing import parse
from kgtui.standalone import inlining
from kgtui.standalone.script import FailedCase, script_name, standalone_script
from tests.forking import environment_of_scripts
from tests.operators import NAMES, described, find

CORPUS = Path(__file__).parents[2] / "corpus"
LIBRARIES = sysconfig.get_path("purelib")


def failed_case(problem: str, case: str, source: bytes, **facts) -> FailedCase:
    found = find(problem)
    result = CaseResult(
        **{
            "case": case,
            "tier": found.case(case).tier,
            "outcome": Outcome.WRONG_VALUE,
            "elapsed_s": 0.1,
            "calls": 1,
            "seed": 1234,
            "message": "return: 3 of 9 wrong",
            **facts,
        },
    )
    return FailedCase(
        problem=found, described=described(problem), result=result, source=source, filename="kernel.py", device="cpu"
    )


def imported(node: ast.AST) -> Iterator[str]:
    """The packages that the statements below a node import; expressions, which import nothing, are not searched."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield (child.module or "").partition(".")[0]
        elif isinstance(child, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in child.names)
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from imported(child)


# Of the modules that many operators share: their trees, and the names that their statements use.
parsed = cache(parse)
used = cache(inlining._used)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_operator_exports_without_our_imports(monkeypatch, name):
    monkeypatch.setattr(inlining, "parse", parsed)
    monkeypatch.setattr(inlining, "_used", used)
    first_of_dtype = {case.dtype: case for case in reversed(find(name).cases)}
    for case in first_of_dtype.values():
        text = standalone_script(failed_case(name, case.name, b"def f():\n    ...\n"), name="script.py")
        assert not set(imported(ast.parse(text))) & {"kgtui", "engine", "problems", "sessions"}


def test_candidate_is_unchanged_in_script():
    source = "x = '''a\\n'''\ny = \"\\\\\"\nz = 'ä'\n"
    tree = ast.parse(standalone_script(failed_case("aten::silu", "1000 f32", source.encode()), name="script.py"))
    (candidate,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CANDIDATE"
    )
    assert candidate == source


def test_passed_case_or_case_without_inputs_is_refused():
    with pytest.raises(UsageError, match=r"^nothing to reproduce of 1000 f32: it passed$"):
        standalone_script(failed_case("aten::silu", "1000 f32", b"", outcome=Outcome.PASS), name="script.py")
    with pytest.raises(UsageError, match=r"^nothing to reproduce of 1000 f32: no inputs were made for it$"):
        standalone_script(failed_case("aten::silu", "1000 f32", b"", seed=None), name="script.py")


def test_out_of_bounds_access_is_described_as_undetected():
    report = OutOfBounds(access="load", kernel="k", tensor="x", index=9, elements=9, program=(0, 0, 0), location=None)
    text = standalone_script(failed_case("aten::silu", "1000 f32", b"", out_of_bounds=report), name="script.py")
    assert "stopped at an access out of bounds, which Triton by itself does not notice" in text


def test_script_is_named_after_kernel_and_case():
    assert script_name("softmax_v3.py", "4x33 f32 dim -1") == "softmax_v3_case_4x33_f32_dim__1.py"


def test_passing_replacement_of_candidate_passes(run_script, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(standalone_script(failed_case("aten::silu", "1000 f32", b"silu = print\n"), name="script.py"))
    wrong = run_script(script)
    assert (wrong.returncode, wrong.stdout.splitlines()[-1]) == (1, "return: a NoneType, expected a Tensor")
    right = run_script(script, str(CORPUS / "honest" / "silu_polynomial.py"))
    assert (right.returncode, right.stdout, right.stderr) == (0, "passed: 1000 f32, inputs from seed 1234\n", "")


@pytest.mark.parametrize(
    ("operator", "honest", "said_of_nothing"),
    [
        ("vllm::scaled_int8_quant", "scaled_int8_quant", "0 outputs, expected 2"),
        ("cublas::cublasSgemvBatched", "cublas_sgemv_batched", "yarray[0]: 33 of 36 wrong"),
        ("vllm::copy_blocks", "copy_blocks", "key_caches[0]: 192 of 448 wrong"),
        ("aten::item", "item", "the entry returned no Python number"),
    ],
    ids=["comparer", "pointers", "lists", "number"],
)
def test_script_of_each_value_kind_detects_errors(run_script, tmp_path, operator, honest, said_of_nothing):
    case = find(operator).cases[0].name
    source = f"def {find(operator).entry}(*arguments):\n    pass\n".encode()
    script = tmp_path / "script.py"
    script.write_text(standalone_script(failed_case(operator, case, source), name="script.py"))
    wrong = run_script(script)
    assert (wrong.returncode, wrong.stdout[: len(said_of_nothing)], wrong.stderr) == (1, said_of_nothing, "")
    right = run_script(script, str(CORPUS / "honest" / f"{honest}.py"))
    assert (right.returncode, right.stdout, right.stderr) == (0, f"passed: {case}, inputs from seed 1234\n", "")


def test_invalid_replacement_is_reported_and_not_run(run_script, tmp_path):
    script, notes, empty = (tmp_path / name for name in ("script.py", "notes.txt", "empty.py"))
    script.write_text(standalone_script(failed_case("aten::silu", "1000 f32", b"silu = print\n"), name="script.py"))
    notes.write_text("silu\n")
    empty.write_text("")
    for path, why in (
        (tmp_path / "missing.py", "not a Python file; name the kernel file to run instead"),
        (notes, "not a Python file; name the kernel file to run instead"),
        (empty, "it does not define silu; define it at the top level"),
    ):
        found = run_script(script, str(path))
        assert (found.returncode, found.stdout, found.stderr) == (2, f"{path}: {why}\n", "")


def test_script_started_alone_reports_changed_input(tmp_path):
    script = tmp_path / "script.py"
    source = (CORPUS / "wrong" / "silu_in_place.py").read_bytes()
    script.write_text(standalone_script(failed_case("aten::silu", "1000 f32", source), name="script.py"))
    found = subprocess.run(
        [sys.executable, "-S", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**environment_of_scripts(), "PYTHONPATH": LIBRARIES},
    )
    changed = "argument 0 was changed; the signature does not say that it is written\n"
    assert (found.returncode, found.stdout, found.stderr) == (1, changed, "")


MESSAGE = re.compile(r"^(\S+: [\d,]+ of [\d,]+ wrong, worst \[[\d,]*\] expected \S+ got \S+?)(?:;|$| \()")


def said(message: str) -> str:
    """What a run and a script say alike of an output."""
    found = MESSAGE.match(message)
    assert found, message
    return found[1]
