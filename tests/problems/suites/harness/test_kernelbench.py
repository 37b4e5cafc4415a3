"""The harness of Model tasks: seeds, dtypes, weights by name, dropout, float64 runs, sizes without memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.model import Precision
from engine.reference.harness import UnavailableError
from problems.suites.harness.kernelbench import ModelTask, open_task

LEVELS = Path(__file__).parents[2] / "samples" / "kernelbench" / "KernelBench"


def task_of(name: str, *, precision: str = "fp32", packed: str = "") -> ModelTask:
    return open_task(LEVELS / f"{name}.py", {"precision": precision, "packed": packed}, torch.device("cpu"))


def drawn(task: ModelTask, *, seed: int = 1, weight_seed: int = 2) -> tuple[Any, ...]:
    return task.draw(seed=seed, weight_seed=weight_seed)


def test_equal_seeds_equal_arguments() -> None:
    task = task_of("level2/2_Two_weights")
    one, again, other = drawn(task), drawn(task), drawn(task, seed=3)

    assert torch.equal(one[0], again[0])
    assert not torch.equal(one[0], other[0])
    assert torch.equal(one[2][0][1], other[2][0][1])  # weights hang on their own seed alone


DRAWS = """
import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    made = torch.rand(3)
    {then}
    return [made, int(made.is_meta)]
"""


@pytest.mark.parametrize(
    ("then", "is_on_device"), [("", 1), ("assert made.tolist()", 0)], ids=["runs there", "fails there"]
)
def test_inputs_are_drawn_on_device_if_supported(tmp_path: Path, then: str, is_on_device: int) -> None:
    file = tmp_path / "1_Draws.py"
    file.write_text(DRAWS.format(then=then))
    task = open_task(file, {"precision": "fp32", "packed": ""}, torch.device("meta"))

    x, was_on_device, *_ = drawn(task)

    assert (x.is_meta, was_on_device) == (True, is_on_device)


def test_weights_named_and_used() -> None:
    task = task_of("level2/2_Two_weights")
    x, initial, state, seed, options = drawn(task)
    weight, bias = (value for _, value in state)

    assert (initial, [name for name, _ in state], options) == ((64, 48), ["weight", "bias"], ())
    doubled = (("weight", weight * 2), ("bias", bias))
    (output,) = task.expected((x, initial, doubled, seed, options), Precision.OWN)
    assert torch.allclose(output, x @ (weight * 2).T + bias)


def test_integers_and_booleans_keep_their_dtype() -> None:
    predictions, targets, *_ = drawn(task_of("level1/95_CrossEntropyLoss", precision="fp16"))
    x, mask, *_ = drawn(task_of("level1/93_Masked_cumsum", precision="bf16"))

    assert (predictions.dtype, targets.dtype) == (torch.float16, torch.int64)
    assert (x.dtype, mask.dtype) == (torch.bfloat16, torch.bool)


def test_dropout_off_statistics_of_the_batch_on() -> None:
    task = task_of("level2/1_Linear_BatchNorm_Dropout")
    arguments = drawn(task)
    before = [value.clone() for _, value in arguments[2]]

    one, again = (task.expected(arguments, Precision.OWN)[0] for _ in range(2))

    assert torch.equal(one, again)
    assert [note.partition(";")[0] for note in task.notes] == [
        "dropout modules run in evaluation",
        "the module stays in training, as in the suite: batch statistics are computed from the input",
    ]
    assert all(torch.equal(value, kept) for (_, value), kept in zip(arguments[2], before, strict=True))


def test_double_run_module_and_inputs() -> None:
    task = task_of("level2/2_Two_weights")
    x, initial, (weight, bias), seed, options = drawn(task)
    arguments = (x, initial, (weight, bias), seed, options)

    (exact,) = task.expected(arguments, Precision.DOUBLE)
    assert torch.allclose(exact, x.double() @ weight[1].double().T + bias[1].double(), rtol=1e-14, atol=1e-14)
    assert task.expected(arguments, Precision.OWN)[0].dtype is torch.float32


def test_lower_run_of_16_bits_unavailable() -> None:
    task = task_of("level2/2_Two_weights", precision="fp16")
    with pytest.raises(UnavailableError, match="16 bits"):
        task.expected(drawn(task), Precision.LOWER)


def test_several_outputs_all_returned() -> None:
    task = task_of("level3/1_Recurrent")
    assert [tuple(output.shape) for output in task.expected(drawn(task), Precision.OWN)] == [(8, 12, 24), (1, 8, 24)]


def test_needed_bytes_are_known_without_allocation() -> None:
    rows, columns = 4096, 393216
    assert task_of("level1/23_Softmax").needed_bytes() == 2 * 4 * rows * columns
    assert task_of("level2/2_Two_weights").needed_bytes() == 4 * (16 * 64 + 48 * 64 + 48 + 16 * 48)


def test_packed_inputs_one_tuple() -> None:
    task = task_of("level1/95_CrossEntropyLoss", packed="packed")
    arguments = drawn(task)

    assert len(arguments) == 5 and len(arguments[0]) == 2 and arguments[-1] == ("packed",)
    assert task.expected(arguments, Precision.OWN)[0].shape == ()


NUMBER = """
import torch
class Model(torch.nn.Module):
    def forward(self, given):
        return given["x"].sum().item(), given["x"]
def get_inputs():
    return [{"x": torch.ones(4), "labels": torch.zeros(2, dtype=torch.int64)}]
"""


def test_dict_is_cast_and_number_is_an_output(tmp_path: Path) -> None:
    file = tmp_path / "1_Number.py"
    file.write_text(NUMBER)
    task = open_task(file, {"precision": "bf16", "packed": ""}, torch.device("cpu"))

    given, *rest = drawn(task)
    number, tensor = task.expected((given, *rest), Precision.OWN)

    assert [value.dtype for value in given.values()] == [torch.bfloat16, torch.int64]
    assert (number.item(), number.dtype, tensor.dtype) == (4.0, torch.float64, torch.bfloat16)
