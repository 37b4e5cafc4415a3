"""A new kernel file of every operator: loads at once, and says what is missing when it is called."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from dataclasses import replace

import pytest

from engine.model import Candidate
from engine.static.checks import read_statically
from engine.static.source import directives, read_source
from kgtui.files.templates import scaffold
from tests.operators import catalogue, find

PROBLEMS = list(catalogue().values())


@pytest.fixture(params=PROBLEMS, ids=[problem.name for problem in PROBLEMS])
def problem(request):
    return request.param


def test_template_names_operator_and_defines_entry(problem):
    text = scaffold(problem)
    assert directives(text) == {"op": problem.name}
    candidate = Candidate(source=text.encode(), problem=problem.name)
    assert read_source(candidate, problem.entry).text == text


def test_no_static_check_objects(problem):
    assert list(read_statically(ast.parse(scaffold(problem)))) == []


def test_no_line_exceeds_the_project_width(problem):
    assert max(map(len, scaffold(problem).splitlines())) <= 120


def test_template_loads_and_entry_is_unimplemented(problem, tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(scaffold(problem))
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry = getattr(module, problem.entry)
    assert tuple(inspect.signature(entry).parameters) == problem.arguments
    with pytest.raises(NotImplementedError, match=f"^{problem.entry} is not written yet: launch {problem.entry}_"):
        entry(*(None for _ in problem.arguments))


def test_the_types_are_those_of_torch():
    assert "def softmax(self: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:" in scaffold(
        find("aten::softmax")
    )


@pytest.mark.parametrize(
    ("mutates", "words"),
    [
        (("input",), "input"),
        (("input", "residual"), "input and residual"),
        (("input", "residual", "weight"), "input, residual and weight"),
    ],
)
def test_template_lists_arguments_written_in_place(mutates, words):
    problem = replace(find("vllm::fused_add_rms_norm"), mutates=mutates)
    assert f"Writes {words} in place.\n" in scaffold(problem)


def test_template_of_in_place_operator_states_in_place():
    text = scaffold(find("vllm::fused_add_rms_norm"))
    assert "Writes input and residual in place." in text
    assert "launch fused_add_rms_norm_kernel and write its outputs in place" in text
