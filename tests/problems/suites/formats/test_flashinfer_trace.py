"""The flashinfer-trace reader: definitions with workloads, inputs that cannot be drawn, Git LFS pointers."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.task import CandidateForm, SuiteContents, Task

Read = Callable[[Path], SuiteContents]

needs_safetensors = pytest.mark.skipif(
    importlib.util.find_spec("safetensors") is None, reason="the extra 'suites' is not installed"
)


@pytest.fixture
def dataset(samples: Path) -> Path:
    return samples / "flashinfer_trace"


@pytest.fixture
def tasks(dataset: Path, contents_of: Read) -> dict[str, Task]:
    return {task.name: task for task in contents_of(dataset).tasks}


def test_definition_one_task_with_workloads(tasks: dict[str, Task]) -> None:
    task = tasks["rmsnorm/rmsnorm_h32"]
    workloads = json.loads(task.details["workloads"])

    assert (task.form, task.entry) == (CandidateForm.DESTINATION, "run")
    assert task.arguments == ("hidden_states", "weight", "eps")
    assert [(one["name"], one["axes"]) for one in workloads] == [
        ("4b7f0d02", {"batch_size": 4}),
        ("6abd9329", {"batch_size": 9}),
    ]
    assert task.refusal == ""


@needs_safetensors
def test_index_inputs_refused_with_reason(tasks: dict[str, Task]) -> None:
    assert tasks["gqa_paged/gqa_paged_h2"].refusal == (
        "it has no workload whose inputs can be drawn: ./blob/workloads/gqa_paged/gqa_paged_h2/x.safetensors cannot be "
        "read: No such file or directory; kv_indptr is of int32: random integers of the suite, in [-1024, 1024), are "
        "not valid indices, and no constraint of the definition determines valid ones"
    )


@needs_safetensors
def test_stored_inputs_with_file_are_accepted(dataset: Path, tmp_path: Path, contents_of: Read) -> None:
    shutil.copytree(dataset, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "blob" / "workloads" / "gqa_paged" / "gqa_paged_h2" / "x.safetensors"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")

    task = next(task for task in contents_of(tmp_path).tasks if task.category == "gqa_paged")

    assert (task.refusal, task.cases, list(task.blobs.values())) == ("", ("0c2489b2",), [file])
    assert task.health[0] == "inputs that the dataset stores are the same in every draw: kv_indptr"


def test_random_offsets_follow_their_constraint(tasks: dict[str, Task]) -> None:
    task = tasks["gqa_ragged/gqa_ragged_h2"]

    assert (task.refusal, task.cases) == ("", ("9d1f6a20",))
    assert task.health == ("drawn so that they are valid by the definition, not from [-1024, 1024): qo_indptr",)


def test_fp4_arguments_are_named(tasks: dict[str, Task]) -> None:
    task = tasks["quantise/requantise_h32"]
    assert (task.refusal, task.fp4) == ("", ("packed", "repacked"))
    assert task.health == ("torch.float4_e2m1fn_x2, two values per byte, the first in the low bits: packed, repacked",)
    assert task.own_rule.sentence.startswith("not applied: torch has no arithmetic for fp4")


@pytest.mark.parametrize(
    ("part", "name", "dtype", "reason"),
    [
        ("inputs", "weight", "float6_e3m2", "weight is of float6_e3m2, which is not drawn"),
        ("outputs", "output", "float6_e3m2", "an output is of float6_e3m2, which is not compared"),
        ("inputs", "eps", "float4_e2m1fn_x2", "eps is a number of float4_e2m1fn_x2, which Python does not have"),
    ],
)
def test_unknown_dtype_refused_with_reason(
    tmp_path: Path, dataset: Path, contents_of: Read, part: str, name: str, dtype: str, reason: str
) -> None:
    shutil.copytree(dataset, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "definitions" / "rmsnorm" / "rmsnorm_h32.json"
    definition = json.loads(file.read_text())
    definition[part][name]["dtype"] = dtype
    file.write_text(json.dumps(definition))

    task = next(task for task in contents_of(tmp_path).tasks if task.category == "rmsnorm")

    assert task.refusal == f"it has no workload whose inputs can be drawn: {reason}"


def test_sampling_refused_for_its_rule(tasks: dict[str, Task]) -> None:
    assert "compares distributions" in tasks["sampling/top_k_sampling_v64"].refusal


def test_lfs_pointer_complaint_names_command(dataset: Path, contents_of: Read) -> None:
    assert contents_of(dataset).complaints == (
        f"{dataset}/definitions/gemm/gemm_n8_k8.json: a Git LFS pointer in place of the file; "
        "run `git lfs pull` in the checkout",
    )


def test_lfs_pointer_of_workloads_is_reported(tmp_path: Path, dataset: Path, contents_of: Read) -> None:
    for folder, text in (
        ("definitions", (dataset / "definitions/rmsnorm/rmsnorm_h32.json").read_text()),
        ("workloads", (dataset / "workloads/sampling/top_k_sampling_v64.jsonl").read_text()),
    ):
        (tmp_path / folder / "rmsnorm").mkdir(parents=True)
        (tmp_path / folder / "rmsnorm" / f"rmsnorm_h32.json{'l' * (folder == 'workloads')}").write_text(text)

    (task,) = contents_of(tmp_path).tasks

    assert task.refusal == (
        "it has no workload whose inputs can be drawn: rmsnorm_h32.jsonl is a Git LFS pointer; "
        "run `git lfs pull` in the checkout"
    )


def test_single_definition_without_workloads(dataset: Path, contents_of: Read) -> None:
    (task,) = contents_of(dataset / "definitions/rmsnorm/rmsnorm_h32.json").tasks

    assert task.refusal == "it has no workload whose inputs can be drawn: no workloads/rmsnorm/rmsnorm_h32.jsonl"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"inputs": True}, "Expected `object`, got `bool` - at `$.inputs`"),
        ({"axes": {"n": 3}}, "Expected `object`, got `int` - at `$.axes[...]`"),
        ({"reference": None}, "Expected `str`, got `null` - at `$.reference`"),
    ],
)
def test_definition_of_other_shape_complains(
    tmp_path: Path, dataset: Path, contents_of: Read, change: dict[str, object], reason: str
) -> None:
    definition = json.loads((dataset / "definitions/rmsnorm/rmsnorm_h32.json").read_text())
    (tmp_path / "odd.json").write_text(json.dumps(definition | change))

    contents = contents_of(tmp_path / "odd.json")

    assert (contents.tasks, contents.complaints) == (
        (),
        (f"{tmp_path}/odd.json: not a valid definition: {reason}; left out",),
    )


def test_invalid_workload_is_omitted_and_rest_kept(tmp_path: Path, dataset: Path, contents_of: Read) -> None:
    rows = (dataset / "workloads/rmsnorm/rmsnorm_h32.jsonl").read_text().splitlines()
    for folder, name, text in (
        ("definitions", "rmsnorm_h32.json", (dataset / "definitions/rmsnorm/rmsnorm_h32.json").read_text()),
        ("workloads", "rmsnorm_h32.jsonl", '{"workload": {"axes": {"batch_size": -1}}}\n' + rows[0] + "\n"),
    ):
        (tmp_path / folder / "rmsnorm").mkdir(parents=True)
        (tmp_path / folder / "rmsnorm" / name).write_text(text)

    (task,) = contents_of(tmp_path).tasks

    assert task.cases == ("4b7f0d02",)
    assert "rmsnorm_h32.jsonl:1: not a valid workload: Expected `int` >= 0 - at" in task.health[0]


def test_workload_without_size_of_axis_omitted(tmp_path: Path, dataset: Path, contents_of: Read) -> None:
    for place in ("definitions/rmsnorm/rmsnorm_h32.json", "workloads/rmsnorm/rmsnorm_h32.jsonl"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text((dataset / place).read_text().replace('"axes": {"batch_size": 4}', '"axes": {}'))

    (task,) = contents_of(tmp_path).tasks

    assert task.cases == ("6abd9329",)
    assert task.health == ("some workloads are left out: a workload gives no size of the axis 'batch_size'",)


def test_mixture_of_experts_95_percent(tmp_path: Path, dataset: Path, contents_of: Read) -> None:
    definition = json.loads((dataset / "definitions/rmsnorm/rmsnorm_h32.json").read_text())
    (tmp_path / "moe.json").write_text(json.dumps({**definition, "op_type": "moe"}))

    (task,) = contents_of(tmp_path / "moe.json").tasks

    assert task.own_rule.least_matched == 0.95


def test_null_in_optional_fields_is_absent(tmp_path: Path, dataset: Path, contents_of: Read) -> None:
    definition = json.loads((dataset / "definitions/rmsnorm/rmsnorm_h32.json").read_text())
    file = tmp_path / "one.json"
    file.write_text(json.dumps(definition | {"description": None, "tags": None, "constraints": None}))

    (task,) = contents_of(file).tasks

    assert task.title == "rmsnorm_h32"
