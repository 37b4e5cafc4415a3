"""Names of kernel files in the folder of the kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import CandidateForm, SuiteOrigin
from kgtui.files.kernel_folder import KernelFolder
from tests.kgtui import fakes


def test_new_files_of_foreign_problem_are_named_for_it(tmp_path: Path) -> None:
    suite = SuiteOrigin(suite="gpumode", form=CandidateForm.SUBMISSION, own_rule="none")
    problem = replace(fakes.softmax_problem(), name="gpumode::vector add", entry="custom_kernel", suite=suite)
    folder = KernelFolder(tmp_path, scaffold=lambda problem: "")
    made = [folder.new_file(problem) for _ in range(3)]
    assert [path.name for path in made] == ["vector_add.py", "vector_add_2.py", "vector_add_3.py"]


@pytest.mark.parametrize(
    ("name", "entry", "has_sample"),
    [("aten::softmax", "softmax", True), ("aten::no_such", "no_such", False), ("vllm::softmax", "softmax", False)],
)
def test_samples_are_of_aten_operators(tmp_path: Path, name: str, entry: str, has_sample: bool) -> None:
    problem = replace(fakes.softmax_problem(), name=name, entry=entry)
    assert KernelFolder(tmp_path, scaffold=lambda problem: "").has_sample(problem) is has_sample
