"""Inputs, empty outputs and answers of flashinfer-trace's definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.model.problems.suite_origin import Precision
from engine.reference.harness import OpenedTask, UnavailableError
from problems.suites.blobs import stored_name
from problems.suites.harness.flashinfer_trace import TraceTask, _drawn_integers, open_task
from problems.suites.texts.constraints import Kind

Open = Callable[[str], OpenedTask]
NAME = "flashinfer_trace::rmsnorm/rmsnorm_h32"


def test_workload_draws_inputs_before_outputs(opened: Open) -> None:
    hidden, weight, eps, output = opened(NAME).draw(seed=1, weight_seed=0, case="6abd9329")

    assert (hidden.shape, weight.shape, output.shape) == ((9, 32), (32,), (9, 32))
    assert (hidden.dtype, output.dtype, eps) == (torch.bfloat16, torch.bfloat16, 1e-5)
    assert not output.any()


def test_inputs_follow_the_seed(opened: Open) -> None:
    task = opened(NAME)
    first, again, other = (task.draw(seed=seed, weight_seed=0, case="4b7f0d02")[0] for seed in (1, 1, 2))

    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_expected_output_has_dtype_of_each_precision(opened: Open) -> None:
    task = opened(NAME)
    arguments = task.draw(seed=1, weight_seed=0, case="4b7f0d02")
    (own,), (double,) = (task.expected(arguments, precision) for precision in (Precision.OWN, Precision.DOUBLE))

    assert (own.shape, own.dtype, double.dtype) == ((4, 32), torch.bfloat16, torch.float64)


def test_memory_of_largest_workload_known(opened: Open) -> None:
    assert opened(NAME).needed_bytes() == {
        "4b7f0d02": 2 * 4 * 32 * 2 + 32 * 2 + 4,
        "6abd9329": 2 * 9 * 32 * 2 + 32 * 2 + 4,
    }


def test_fp4_is_bytes_between_processes(opened: Open) -> None:
    task = opened("flashinfer_trace::quantise/requantise_h32")
    packed, scale, values, repacked = task.draw(seed=1, weight_seed=0, case="c05b8f13")
    expected, codes = task.expected((packed, torch.ones_like(scale), values, repacked), Precision.OWN)

    assert (packed.dtype, packed.shape, repacked.dtype) == (torch.uint8, (37, 16), torch.uint8)
    assert (codes.dtype, codes.shape) == (torch.uint8, (37, 16))
    numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    signed = torch.tensor([*numbers, *(-number for number in numbers)])
    assert torch.equal(expected[:, ::2].float(), signed[(packed & 15).long()])
    assert torch.equal(expected[:, 1::2].float(), signed[(packed >> 4).long()])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float4_e2m1fn_x2], ids=str)
def test_stored_fp4_is_read_as_bytes(tmp_path: Path, dtype: torch.dtype) -> None:
    octets = torch.arange(16, dtype=torch.uint8).view(2, 8)
    body = "return q.float() + kv_indptr.view(torch.uint8).sum(dim=1, keepdim=True).float()"
    task = paged(tmp_path, stored=octets.view(dtype), stored_dtype="float4_e2m1fn_x2", body=f"import torch; {body}")

    assert torch.equal(task.draw(seed=0, weight_seed=0, case="one")[1], octets)


BODY = "return q.float() * kv_indptr.diff()[:, None]"


def paged(
    folder: Path,
    *,
    dtype: str = "bfloat16",
    key: str = "kv_indptr",
    stored: torch.Tensor,
    body: str = BODY,
    stored_dtype: str = "int32",
) -> TraceTask:
    """A task with one random input of a dtype and stored offsets, or another stored tensor of eight columns."""
    save = pytest.importorskip("safetensors.torch", reason="the extra 'suites' is not installed").save
    path = "blob/x.safetensors"
    target = folder / stored_name(path)
    target.parent.mkdir()
    target.write_bytes(save({"kv_indptr": stored}))
    (folder / "reference.py").write_text(f"def run(q, kv_indptr):\n    {body}\n")
    schema = {
        "axes": {"n": {"type": "var"}, "m": {"type": "var"}, "d": {"type": "const", "value": 8}},
        "inputs": {
            "q": {"shape": ["n", "d"], "dtype": dtype},
            "kv_indptr": {"shape": ["m"] if stored.dim() == 1 else ["n", "d"], "dtype": stored_dtype},
        },
        "outputs": {"output": {"shape": ["n", "d"], "dtype": "float32"}},
        "determined": {},
    }
    way = {"type": "safetensors", "path": path, "tensor_key": key}
    workload = {"name": "one", "axes": {"n": 2, "m": 3}, "inputs": {"q": {"type": "random"}, "kv_indptr": way}}
    details = {"schema": json.dumps(schema), "workloads": json.dumps([workload])}
    return open_task(folder / "reference.py", details, torch.device("cpu"))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_stored_offsets_beside_random_input(tmp_path: Path, dtype: torch.dtype) -> None:
    task = paged(tmp_path, dtype=str(dtype).removeprefix("torch."), stored=torch.tensor([0, 3, 4], dtype=torch.int32))
    q, indptr, output = task.draw(seed=1, weight_seed=0, case="one")
    (own,), (double,) = (task.expected((q, indptr, output), way) for way in (Precision.OWN, Precision.DOUBLE))

    assert (q.dtype, q.shape, indptr.tolist()) == (dtype, (2, 8), [0, 3, 4])
    assert own.tolist() == (q.float() * torch.tensor([[3.0], [1.0]])).tolist()
    assert double.dtype is torch.float64


@pytest.mark.parametrize(
    ("stored", "key", "reason"),
    [
        (torch.zeros(3, dtype=torch.int32), "other", "blob/x.safetensors has no tensor 'other'"),
        (torch.zeros(4, dtype=torch.int32), "kv_indptr", r"is torch.int32 \(4,\), not torch.int32 \(3,\)"),
        (torch.zeros(3, dtype=torch.int64), "kv_indptr", r"is torch.int64 \(3,\), not torch.int32 \(3,\)"),
    ],
    ids=["key", "shape", "dtype"],
)
def test_stored_tensor_of_another_kind_unavailable(tmp_path: Path, stored: torch.Tensor, key: str, reason: str) -> None:
    with pytest.raises(UnavailableError, match=reason):
        paged(tmp_path, stored=stored, key=key).draw(seed=1, weight_seed=0, case="one")


def test_invalid_stored_file_is_unavailable(tmp_path: Path) -> None:
    task = paged(tmp_path, stored=torch.zeros(3, dtype=torch.int32))
    (tmp_path / stored_name("blob/x.safetensors")).write_bytes(b"text")

    with pytest.raises(UnavailableError, match=r"blob/x\.safetensors is not a safetensors file"):
        task.draw(seed=1, weight_seed=0, case="one")


def test_generated_offsets_end_at_their_axis(opened: Open) -> None:
    task = opened("flashinfer_trace::gqa_ragged/gqa_ragged_h2")
    (q, offsets, output), (_, other, _) = (task.draw(seed=seed, weight_seed=0, case="9d1f6a20") for seed in (1, 2))

    assert (offsets.dtype, offsets.shape, q.shape[0]) == (torch.int32, (4,), 12)
    assert (int(offsets[0]), int(offsets[-1])) == (0, 12)
    assert not torch.equal(offsets, other)
    assert task.expected((q, offsets, output), Precision.OWN)[0].shape == (3, 8)


@pytest.mark.parametrize(
    ("kind", "count", "bound", "least", "most"),
    [
        (Kind.OFFSETS, 5, 4, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        (Kind.OFFSETS, 2, 0, [0, 0], [0, 0]),
        (Kind.OFFSETS, 4, 1, [0, 0, 0, 1], [0, 1, 1, 1]),
        (Kind.INDICES, 3, 3, [0, 1, 2], [0, 1, 2]),
        (Kind.INDICES, 3, 1, [0, 0, 0], [0, 0, 0]),
        (Kind.LENGTHS, 2, 4, [1, 1], [4, 4]),
    ],
)
def test_generated_integers_are_in_range(kind: Kind, count: int, bound: int, least: list[int], most: list[int]) -> None:
    for _ in range(20):
        drawn = _drawn_integers(kind, count, bound).sort().values.tolist()
        assert all(low <= value <= high for low, value, high in zip(least, drawn, most, strict=True)), drawn


@pytest.mark.parametrize(("kind", "count", "bound"), [(Kind.OFFSETS, 1, 3), (Kind.INDICES, 2, 0), (Kind.LENGTHS, 1, 0)])
def test_integers_that_cannot_be_drawn_unavailable(kind: Kind, count: int, bound: int) -> None:
    with pytest.raises(UnavailableError):
        _drawn_integers(kind, count, bound)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("return q.double()", r"run returns output as torch.float64 \(2, 8\), the definition has torch.float32"),
        ("return q.float()[:1]", r"run returns output as torch.float32 \(1, 8\)"),
        ("return q.float(), q", "run returns 2 outputs, the definition has 1"),
    ],
    ids=["dtype", "shape", "count"],
)
def test_reference_that_breaks_its_definition_fails(tmp_path: Path, text: str, reason: str) -> None:
    task = paged(tmp_path, stored=torch.zeros(3, dtype=torch.int32), body=text)
    arguments = task.draw(seed=1, weight_seed=0, case="one")

    with pytest.raises(ValueError, match=reason):
        task.expected(arguments, Precision.OWN)
