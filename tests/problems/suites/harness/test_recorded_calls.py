"""Inputs taken from the tests of a task: which calls, fresh numbers, the reference's answer in two precisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.model.problems.suite_origin import Precision
from engine.reference.harness import OpenedTask, UnavailableError
from problems.suites.harness import performance
from problems.suites.harness.recorded_calls import RecordedTask, open_task
from problems.suites.rewriting.stages import with_stages
from problems.suites.settings import STAGES
from problems.suites.task import Task

Open = Callable[[str], OpenedTask]


def test_literal_call_keeps_arguments_of_tests(opened: Open) -> None:
    args, kwargs, written = opened("kernelbench_x::Activation/relu").draw(seed=1, weight_seed=2, case="line 20")

    assert (args[0].tolist(), kwargs, written) == ([-1.0, 0.0, 2.0], (), ())


def test_call_in_place_result_and_written_argument(opened: Open) -> None:
    task = opened("kernelbench_x::Activation/relu")
    arguments = task.draw(seed=1, weight_seed=2, case="line 21")
    args, kwargs, written = arguments
    outputs = task.expected(arguments, Precision.DOUBLE)

    assert kwargs == (("inplace", True),)
    assert [(number, tensor is args[0]) for number, tensor in written] == [(0, True)]
    assert [output.tolist() for output in outputs] == [[[0.0], [4.0]]] * 2
    assert args[0].tolist() == [[-3.0], [4.0]]


def test_performance_file_first_and_last_input(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    task = opened("kernelbench_x::Activation/relu")
    first, last = (task.draw(seed=1, weight_seed=2, case=f"benchmark {which}")[0][0] for which in ("first", "last"))
    monkeypatch.setattr(performance, "MOST_BYTES", 40 * 4)
    limited = opened("kernelbench_x::Activation/relu").draw(seed=1, weight_seed=2, case="benchmark last")

    assert (first.shape, last.shape, limited[0][0].shape) == ((16,), (128,), (32,))
    assert len(task.expected(((last,), ()), Precision.OWN)) == 1


def test_performance_inputs_follow_the_seed(opened: Open) -> None:
    task = opened("tritonbench::T/add")
    one, again, other = (task.draw(seed=seed, weight_seed=0, case="benchmark last") for seed in (7, 7, 8))

    assert (one[0][0].shape, one[1]) == ((64, 64), (("alpha", 3),))
    assert torch.equal(one[0][0], again[0][0])
    assert not torch.equal(one[0][0], other[0][0])


def test_failing_performance_file_replaced_and_noted(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no sizes")

    task = opened("tritonbench::T/add")
    assert isinstance(task, RecordedTask)
    monkeypatch.setattr(performance.PerformanceFile, "draw", fails)
    task.try_performance("line 14")

    assert task.notes == ("its performance file fails (ValueError: no sizes), so line 14 is timed in its place",)
    assert task.draw(seed=1, weight_seed=0, case="benchmark last")[0][0].tolist() == [1.0, 2.0]


def test_each_loop_iteration_has_its_shape(opened: Open) -> None:
    task = opened("kernelbench_x::Activation/relu")
    shapes = [task.draw(seed=1, weight_seed=2, case=f"line 26 #{turn}")[0][0].shape for turn in (1, 2, 3)]

    assert shapes == [(8, 16), (4, 5, 6), (8, 16)]


def test_random_inputs_follow_the_seed(opened: Open) -> None:
    task = opened("kernelbench_x::Activation/relu")
    first, again, other = (task.draw(seed=seed, weight_seed=0, case="line 26 #1")[0][0] for seed in (7, 7, 8))

    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_seed_set_by_tests_still_gives_fresh_inputs(opened: Open, tasks: dict[str, Task], tmp_path: Path) -> None:
    details = {**tasks["kernelbench_x::Math/polar_sum"].details}
    details["tests"] = details["tests"].replace("    real = ", "    torch.manual_seed(42); real = ")
    (tmp_path / "reference.py").write_text(tasks["kernelbench_x::Math/polar_sum"].text)
    (tmp_path / "data_utils.py").write_text("rand_tensor = None")
    task = open_task(tmp_path / "reference.py", details, torch.device("cpu"))
    first, other = (task.draw(seed=seed, weight_seed=0, case="line 21 #2")[0][0] for seed in (1, 2))

    assert not torch.equal(first, other)


def test_stages_returned_before_result_but_not_to_tests(tasks: dict[str, Task], tmp_path: Path) -> None:
    found = tasks["tritonbench::T/tanh_sum"]
    text = with_stages(found.text, ("squashed",), form=found.form, entry=found.entry, is_reference=True)
    (tmp_path / "reference.py").write_text(text)
    tests = found.details["tests"].replace("    input2", "    assert results['test_case_1'].shape == (5,); input2")
    details = {**found.details, "tests": tests, STAGES: "squashed"}
    task = open_task(tmp_path / "reference.py", details, torch.device("cpu"))
    call = task.draw(seed=1, weight_seed=0, case=found.cases[1])

    assert [output.shape for output in task.expected(call, Precision.OWN)] == [(2, 4), (4,)]


def test_gold_kernel_needs_gpu(opened: Open) -> None:
    with pytest.raises(UnavailableError, match="its reference is a Triton kernel, which runs on a GPU only"):
        opened("tritonbench::G/double_add")


def test_keywords_kept_as_keywords(opened: Open) -> None:
    task = opened("tritonbench::T/add")
    arguments = task.draw(seed=1, weight_seed=0, case="line 16")

    assert arguments[1] == (("alpha", 2),)
    assert [one.tolist() for one in task.expected(arguments, Precision.OWN)] == [[7, 10]]


def test_self_importing_tests_run(opened: Open) -> None:
    task = opened("tritonbench::T/tanh_sum")
    args, kwargs = task.draw(seed=1, weight_seed=0, case="line 26")
    (expected,) = task.expected((args, kwargs), Precision.OWN)

    torch.testing.assert_close(expected, torch.tanh(args[0]).sum(dim=0))


def test_reference_answer_without_a_call_before(opened: Open) -> None:
    arguments = ((torch.tensor([[3.0, 4.0]]),), ())

    (size, total) = opened("kernelbench_x::Math/polar_sum").expected(arguments, Precision.OWN)

    assert (size.tolist(), total.tolist()) == ([7.0], [7.0])


def test_reference_in_double_agrees_with_own_run(opened: Open) -> None:
    task = opened("kernelbench_x::Fusion/fused_scale_softmax_sum")
    arguments = task.draw(seed=3, weight_seed=0, case="line 26 #2")
    (own,), (double,) = (task.expected(arguments, precision) for precision in (Precision.OWN, Precision.DOUBLE))

    assert (own.dtype, double.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(own.double(), double, rtol=1e-5, atol=1e-5)


def test_labels_keep_their_dtype_in_double(opened: Open) -> None:
    task = opened("kernelbench_x::Loss/nll_loss")
    arguments = task.draw(seed=3, weight_seed=0, case="line 21 #2")
    (double,) = task.expected(arguments, Precision.DOUBLE)

    assert (arguments[0][1].dtype, double.dtype, double.shape) == (torch.int64, torch.float64, (6,))


def test_reference_leaves_arguments_alone(opened: Open) -> None:
    given = torch.tensor([-1.0, 2.0])

    opened("kernelbench_x::Activation/relu").expected(((given,), (("inplace", True),)), Precision.OWN)

    assert given.tolist() == [-1.0, 2.0]


def test_module_as_argument_unavailable(opened: Open) -> None:
    with pytest.raises(UnavailableError, match="an argument of type Linear cannot be moved to a candidate's process"):
        opened("kernelbench_x::Optimizer/SGD").draw(seed=1, weight_seed=0, case="line 25")


def test_line_without_call_unavailable(opened: Open) -> None:
    with pytest.raises(UnavailableError, match="its tests make no call at line 1"):
        opened("tritonbench::T/add").draw(seed=1, weight_seed=0, case="line 1")


def test_every_case_of_samples_drawn(opened: Open, tasks: dict[str, Task]) -> None:
    for name, task in tasks.items():
        if task.harness == "recorded_calls" and not task.refusal and task.category != "G":
            for case in task.cases:
                arguments = opened(name).draw(seed=5, weight_seed=0, case=case)
                assert opened(name).expected(arguments, Precision.OWN)
