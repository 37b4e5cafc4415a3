"""A suite as a source of problems: names, sizes, versions, and what a bad path or size is answered with."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from engine.errors import EngineError, UsageError
from engine.model import CandidateForm, DType, Tier
from engine.problem_source import open_source
from problems.index import open_index
from problems.suites.settings import Accuracy, SuiteChoice
from problems.suites.source import SuiteSource, suite_at

SAMPLE = Path(__file__).parents[1] / "samples" / "kernelbench"
SOFTMAX = "kernelbench::level1/23_Softmax"


def source(**choices: object) -> SuiteSource:
    return suite_at(SAMPLE, choice=SuiteChoice(path=Path(), format="", **choices))  # type: ignore[arg-type]  # a table


def test_problem_appears_by_its_bare_name() -> None:
    problem = open_index(suites=(source(),)).find("level1/23_Softmax")

    assert (problem.name, problem.entry, problem.form) == (SOFTMAX, "ModelNew", CandidateForm.MODULE)
    assert problem.arguments == ("x", "init_inputs", "module_state", "weight_seed", "call_options")
    assert [case.tier for case in problem.cases] == [Tier.SMOKE, *[Tier.FULL] * 4, Tier.BENCH]


@pytest.mark.parametrize(
    ("suite", "name", "signature", "category", "level"),
    [
        ("kernelbench", SOFTMAX, "ModelNew(*get_init_inputs()).forward(x)", "single operators", "level1"),
        (
            "kernelbench_x",
            "kernelbenchx::Math/div",
            "div(input, other, *, rounding_mode=None, out=None)",
            "Math",
            "difficulty 3",
        ),
        ("gpu_mode", "gpumode::pmpp_v2/scale_py", "custom_kernel(data)", "pmpp_v2", "pmpp_v2"),
    ],
)
def test_shown_signature_category_those_of_suite(
    suite: str, name: str, signature: str, category: str, level: str
) -> None:
    problem = suite_at(SAMPLE.parent / suite).problem(name)

    assert (problem.shown_signature, problem.shown_category) == (signature, category)
    assert problem.suite is not None and problem.suite.level == level


def test_cap_and_size_are_stated_with_problem() -> None:
    problem = source(cap=256, sizes={"dim": 512}).problem(SOFTMAX)

    assert problem.suite is not None
    assert problem.suite.changes == ("sizes changed from the suite's: batch_size 4096 -> 256, dim 393216 -> 512",)
    assert dict(problem.cases[0].params) == {"draw": 1, "batch_size": 256, "dim": 512}


def test_precision_is_the_dtype_of_the_cases() -> None:
    assert {case.dtype for case in source(accuracy=Accuracy.BF16).problem(SOFTMAX).cases} == {DType.BFLOAT16}


def test_id_opens_the_same_problem() -> None:
    first = source(cap=64, sizes={"dim": 8})
    again = open_source(first.id)

    assert again.id == first.id
    assert again.problem(SOFTMAX).version == first.problem(SOFTMAX).version
    assert again.problem(SOFTMAX).version != source(cap=64).problem(SOFTMAX).version


def test_unknown_size_refused() -> None:
    with pytest.raises(UsageError, match="no size constant 'rows'"):
        source(sizes={"rows": 8}).problem(SOFTMAX)


def test_deleted_path_is_refused(tmp_path: Path) -> None:
    gone = SuiteChoice(path=tmp_path / "gone", format="kernelbench")
    with pytest.raises(EngineError, match=r"gone, the suite of this problem, no longer exists"):
        open_source(f"problems.suites.source:{gone.text}")


def test_path_without_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a suite in a known format"):
        suite_at(tmp_path)


def test_suite_in_a_folder_below_suggested(tmp_path: Path) -> None:
    (tmp_path / "clones").mkdir()
    (tmp_path / "clones" / "suite").symlink_to(SAMPLE)
    with pytest.raises(UsageError, match=rf"did you mean {tmp_path}/clones/suite\?"):
        suite_at(tmp_path)


def test_parquet_without_pyarrow_states_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    file = tmp_path / "export.parquet"
    file.write_bytes(b"PAR1")
    with pytest.raises(UsageError, match=r"needs pyarrow; pip install 'kgtui\[suites\]'"):
        suite_at(file)


def test_parquet_export_same_tasks_as_files(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'suites' is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    code = (SAMPLE / "KernelBench" / "level1" / "23_Softmax.py").read_text()
    rows = {"code": [code, None], "level": [1, 1], "name": ["23_Softmax", "24_None"], "problem_id": [23, 24]}
    file = tmp_path / "level_1-00000-of-00001.parquet"
    parquet.write_table(pyarrow.table(rows), file)

    exported = suite_at(file)

    assert exported.names() == (SOFTMAX,)
    assert exported.problem(SOFTMAX).shown_signature == source().problem(SOFTMAX).shown_signature
    assert len(exported.complaints) == 1 and "row 2" in exported.complaints[0]


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet", reason="the extra 'suites' is not installed")
    file = tmp_path / "export.parquet"
    file.write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(UsageError, match="not a suite in a known format"):
        suite_at(file)


def test_code_never_loaded_outside_a_reference() -> None:
    with pytest.raises(EngineError, match="not attached"):
        source().load(SOFTMAX)


def test_forward_argument_of_a_hidden_name_renamed(tmp_path: Path) -> None:
    text = (SAMPLE / "KernelBench" / "level1" / "23_Softmax.py").read_text()
    file = tmp_path / "1_a.py"
    file.write_text(text.replace("(self, x: torch.Tensor)", "(self, weight_seed)"))

    assert suite_at(file).problem("kernelbench::1_a").arguments[:2] == ("weight_seed_", "init_inputs")
