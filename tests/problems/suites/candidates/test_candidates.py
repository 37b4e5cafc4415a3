"""Candidates in each suite's own form become a task and a source text; what is none becomes a sentence."""

from __future__ import annotations

import json
import runpy
import tracemalloc
from dataclasses import replace
from pathlib import Path, PurePath

import pytest
import torch

from problems.suites.candidates.naming import task_and_sample
from problems.suites.candidates.predictions import names_of
from problems.suites.candidates.reading import candidates_of
from problems.suites.candidates.record import SuiteCandidates
from problems.suites.scanning import format_of
from problems.suites.task import Task
from problems.suites.texts.separated import SEPARATOR

SAMPLES = Path(__file__).parents[2] / "samples"
SOLUTIONS = SAMPLES / "flashinfer_trace" / "solutions" / "example" / "rmsnorm" / "rmsnorm_h32"
RELU = "def relu(input, inplace=False):\n    return input.clamp(min=0)\n"


def tasks_of(suite: str) -> tuple[Task, ...]:
    return format_of(SAMPLES / suite).read(SAMPLES / suite).tasks


def written(folder: Path, files: dict[str, str], suite: str) -> SuiteCandidates:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return candidates_of(folder, tasks_of(suite))


def only(found: SuiteCandidates) -> tuple[str, str]:
    assert found.complaints == ()
    (candidate,) = found.candidates
    return candidate.task, candidate.text


def row(**fields: str) -> str:
    return json.dumps(fields) + "\n"


def test_prediction_with_file_and_fence(tmp_path: Path) -> None:
    answer = f"Here it is:\n```python\n{RELU}```\nDone.<|im_end|>"

    found = written(tmp_path, {"all.jsonl": row(predict=answer, file="Activation/relu.py")}, "kernelbench_x")

    assert only(found) == ("Activation/relu", RELU)


def test_prediction_by_bare_file_name(tmp_path: Path) -> None:
    assert only(written(tmp_path, {"all.jsonl": row(predict=RELU, file="relu.py")}, "kernelbench_x"))[0] == (
        "Activation/relu"
    )


def test_prediction_by_description_in_instruction(tmp_path: Path) -> None:
    instruction = (
        "Write a kernel. Functional Description: Sets negative elements to zero. May\nwork in place. "
        "Wrapper Entry Information: relu(input)"
    )

    found = written(tmp_path, {"all.jsonl": row(instruction=instruction, predict=RELU)}, "kernelbench_x")

    assert only(found)[0] == "Activation/relu"


def test_prediction_by_gold_text_in_prompt(tmp_path: Path) -> None:
    gold = next(task.text for task in tasks_of("tritonbench") if task.name == "G/double_add")
    answer = "def double_add(x, y):\n    return 2 * x + y\n"

    found = written(tmp_path, {"all.jsonl": row(prompt=f"Rewrite:\n{gold}", predict=answer)}, "tritonbench")

    assert only(found) == ("G/double_add", answer)


def test_text_above_separator_counts(tmp_path: Path) -> None:
    assert only(written(tmp_path, {"relu.py": f"{RELU}{SEPARATOR}\ntests()\n"}, "kernelbench_x"))[1] == RELU


def test_kernel_function_names_task(tmp_path: Path) -> None:
    source = RELU.replace("def relu", "def kernel_function")

    assert only(written(tmp_path, {"relu.py": source}, "kernelbench_x"))[1].endswith("\nrelu = kernel_function\n")


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("level1/23_Softmax.py", None),
        ("23_Softmax.py", None),
        ("level1/23_Softmax_0.py", 0),
        ("23_Softmax_sample_3.py", 3),
        ("a-model/level1/23_Softmax-12.py", 12),
        ("a-model_2/23_Softmax/0.py", 0),
        ("a-model/level1/23_Softmax/sample_4.py", 4),
        ("runs/level_1_problem_23_sample_7_kernel.py", 7),
        ("level_1_problem_23.py", None),
    ],
)
def test_file_name_gives_task_and_sample(name: str, sample: int | None) -> None:
    found = task_and_sample(PurePath(name), names_of(tasks_of("kernelbench")))

    assert found is not None and (found[0].name, found[1]) == ("level1/23_Softmax", sample)


@pytest.mark.parametrize("name", ["0.py", "level1/24_Other_0.py", "level_1_problem_99_kernel.py", "Softmax.py"])
def test_file_name_without_task_gives_none(name: str) -> None:
    assert task_and_sample(PurePath(name), names_of(tasks_of("kernelbench"))) is None


def test_task_named_like_sample_is_itself() -> None:
    (task, *_) = tasks_of("kernelbench")
    conv, conv_3 = (replace(task, name=name) for name in ("level1/conv", "level1/conv_3"))
    tasks = names_of([conv, conv_3])

    assert task_and_sample(PurePath("conv_3.py"), tasks) == (conv_3, None)
    assert task_and_sample(PurePath("conv_3_1.py"), tasks) == (conv_3, 1)
    assert task_and_sample(PurePath("conv_4.py"), tasks) == (conv, 4)


@pytest.mark.parametrize("name", ["swish.txt", "swish/answer_1.py", "activation/swish.py"])
def test_answer_file_named_as_task_is_found(tmp_path: Path, name: str) -> None:
    source = "class ModelNew:\n    pass\n"
    text = f"```python\n{source}```\n" if name.endswith(".txt") else source

    assert only(written(tmp_path, {name: text}, "multikernelbench")) == ("activation/swish", source)


def test_custom_kernel_in_folder_of_task(tmp_path: Path) -> None:
    source = "def custom_kernel(data):\n    return data\n"

    assert only(written(tmp_path, {"histogram_py/submission.py": source}, "gpu_mode"))[0] == "pmpp/histogram_py"


def test_solution_entry_renamed() -> None:
    found = candidates_of(SOLUTIONS / "triton_norm.json", tasks_of("flashinfer_trace"))

    name, text = only(found)
    assert name == "rmsnorm/rmsnorm_h32"
    assert text.endswith("\n\nrun = norm\n")


def test_solution_of_two_files_is_one_text() -> None:
    found = candidates_of(SOLUTIONS / "triton_norm_in_two_files.json", tasks_of("flashinfer_trace"))

    _, text = only(found)
    assert text.index("# kernels.py\n") < text.index("def norm_kernel(") < text.index("# main.py\npass\n")
    assert ".kernels" not in text


@pytest.mark.parametrize("returned", ["x", "[x]", '{"output": x}'])
def test_solution_that_returns_made_to_fill(tmp_path: Path, returned: str) -> None:
    given = {
        "definition": "rmsnorm_h32",
        "spec": {"language": "python", "entry_point": "a.py::f", "destination_passing_style": False},
        "sources": [{"path": "a.py", "content": f"def f(x, w, e):\n    return {returned}\n"}],
    }

    _, text = only(written(tmp_path, {"one.json": json.dumps(given)}, "flashinfer_trace"))

    output, namespace = torch.zeros(2), runpy.run_path(str(_saved(tmp_path, text)))
    namespace["run"](torch.ones(2), None, None, output)
    assert output.tolist() == [1.0, 1.0]


def _saved(folder: Path, text: str) -> Path:
    file = folder / "solution.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"definition": "other"}, "for definition 'other', which is not in the suite"),
        ({"spec": {"language": "cuda", "entry_point": "a.py::f"}}, "in a.py, which is not a CUDA or C++ file"),
        ({"sources": []}, "its entry_point a.py::f is not in its sources"),
        ({"sources": [{"path": "b.py", "content": ""}]}, "its entry_point a.py::f is not in its sources"),
        ({"sources": [{"path": "a.py", "content": ""}] * 2}, "two of its source files have one path"),
        (
            {"sources": [{"path": "a.py", "content": ""}, {"path": "b.cu", "content": ""}]},
            "has the file b.cu beside its Python files",
        ),
        ({"spec": ["triton"]}, "not a valid Solution: Expected `object`, got `array` - at `$.spec`"),
        ({"sources": ["a.py"]}, "not a valid Solution: Expected `object`, got `str` - at `$.sources[0]`"),
    ],
)
def test_solution_that_cannot_be_read_complains(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    given = {
        "definition": "rmsnorm_h32",
        "spec": {"language": "python", "entry_point": "a.py::f"},
        "sources": [{"path": "a.py", "content": "def f(x, w, e, out):\n    out.copy_(x)\n"}],
    }

    found = written(tmp_path, {"one.json": json.dumps(given | change)}, "flashinfer_trace")

    assert found.candidates == ()
    assert reason in found.complaints[0]


def test_bad_rows_have_one_sentence_and_rest_continues(tmp_path: Path) -> None:
    rows = [
        row(predict=RELU, file="nothing.py"),
        row(file="relu.py"),
        row(predict=RELU, instruction="Write something."),
        "not json\n",
        row(predict=RELU, file="relu.py"),
    ]

    found = written(tmp_path, {"all.jsonl": "".join(rows), "unknown.py": RELU}, "kernelbench_x")
    complaints = [text.replace(f"{tmp_path}/", "") for text in found.complaints]

    assert [candidate.origin for candidate in found.candidates] == [f"{tmp_path}/all.jsonl:5"]
    assert complaints[0] == "all.jsonl:1: for task 'nothing.py', which is not in the suite"
    assert complaints[1] == "all.jsonl:2: no candidate: expected a text in predict, prediction, response, code"
    assert complaints[2] == "all.jsonl:3: its instruction fits 0 tasks (none); name one in 'file'"
    assert complaints[3].startswith("all.jsonl:4: not valid JSON")
    assert complaints[4].startswith("unknown.py: its name matches no task of the suite, or several; name it")


@pytest.mark.parametrize("text", ["def other():\n    pass\n", "def relu(:\n", "", "I cannot do that."])
def test_answer_without_the_entry_is_a_failing_sample(tmp_path: Path, text: str) -> None:
    files = {"all.jsonl": row(predict=text, file="relu.py"), "relu_1.py": text, "relu_2.txt": text}

    found = written(tmp_path, files, "kernelbench_x")

    assert found.complaints == ()
    assert [(one.task, one.text) for one in found.candidates] == [("Activation/relu", text)] * 3


def test_invalid_rows_are_not_kept(tmp_path: Path) -> None:
    file, padding = tmp_path / "rows.jsonl", "#" * (1 << 20)
    with file.open("w") as rows:
        for number in range(24):
            rows.write(json.dumps({"file": f"level1/{number}_None", "predict": "x", "log": padding}) + "\n")
    tasks = tasks_of("kernelbench")
    tracemalloc.start()
    found = candidates_of(file, tasks)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found.candidates), len(found.complaints)) == (0, 21)
    assert found.complaints[-1] == "4 more files or rows are left out"
    assert peak_bytes < 8 << 20
