"""A launch that a GPU refuses is refused with the type that Triton raises there; what it takes is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl
from triton.runtime.errors import OutOfResources

from engine.worker.triton_interpreter.refusals import Refusals

X = torch.zeros(64)


def kernel(x, n, scale=1.0, block: tl.constexpr = 64):
    """Stands for the Python function of a kernel."""


def refused(*args: Any, grid: Any = (1,), target: str = "sm_90", **kwargs: Any) -> str:
    """The type and the words of the refusal of a launch; "" when it is not refused."""
    refusals = Refusals(target)
    try:
        refusals.check(kernel, args, kwargs, refusals.grid(grid))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"nul_warps": 4},
            "KeyError: 'nul_warps is neither a parameter of kernel nor a launch option for sm_90; did you ",
        ),
        ({"blocks": 4}, "; did you mean block?"),
        ({"waves_per_eu": 2}, "waves_per_eu is neither a parameter of kernel nor a launch option for sm_90"),
        ({"num_warps": 3}, "AssertionError: num_warps must be a power of 2"),
        ({"num_warps": 0}, "AssertionError: num_warps must be a power of 2"),
        ({"num_warps": 64}, "kernel is launched with num_warps=64: at most 32 on sm_90"),
    ],
)
def test_option_that_the_target_lacks_is_refused(options: dict[str, Any], words: str) -> None:
    assert words in refused(X, 5, **options)


@pytest.mark.parametrize("options", [{}, {"num_warps": 32}, {"num_stages": 5, "num_ctas": 2}, {"maxnreg": None}])
def test_option_of_the_target_is_accepted(options: dict[str, Any]) -> None:
    assert refused(X, 5, **options) == ""


def test_option_of_other_vendor_is_accepted_for_target() -> None:
    assert refused(X, 5, waves_per_eu=2, target="gfx942") == ""


def test_threads_depend_on_the_width_of_a_warp() -> None:
    assert refused(X, 5, num_warps=16, target="gfx942") == ""
    assert "at most 16 on gfx942" in refused(X, 5, num_warps=32, target="gfx942")


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ((1, 65_536), "the grid (1, 65536) has 65,536 programs on axis 1, sm_90 allows 1 to 65,535"),
        ((1, 1, 65_536), "65,536 programs on axis 2"),
        ((-1, -1), "-1 programs on axis 0"),
        ((2**31,), "OverflowError: axis 0 of the grid is 2,147,483,648"),
        ((2.0,), "TypeError: axis 0 of the grid is 2.0, a float; expected an integer: // or triton.cdiv"),
        ((1, torch.tensor(2.5)), "TypeError: axis 1 of the grid is tensor(2.5000), a Tensor"),
        ((), "IndexError: the grid is empty"),
        (4, "TypeError: object of type 'int' has no len()"),
    ],
)
def test_grid_that_the_target_cannot_launch_is_refused(grid: Any, words: str) -> None:
    assert words in refused(X, 5, grid=grid)


@pytest.mark.parametrize(
    "grid",
    [(1,), [7], (65_536,), (2**31 - 1,), (1, 65_535, 1), (0,), (0, 70_000), (-1,), (np.int64(3), torch.tensor(2)),
     (1, 1, 1, 70_000)],
    ids=str,
)  # fmt: skip
def test_supported_or_empty_grid_is_accepted(grid: Any) -> None:
    assert refused(X, 5, grid=grid) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.int32(4), "TypeError: Triton takes no int32 for argument n of kernel"),
        (np.zeros(4), "TypeError: Triton takes no ndarray for argument n of kernel"),
        ([4], "TypeError: Triton takes no list for argument n of kernel"),
        ("four", "TypeError: Triton takes no str for argument n of kernel"),
        (torch.float32, "TypeError: Triton takes no dtype for argument n of kernel"),
        (X.to(torch.complex64), 'KeyError: "Triton takes no Tensor of torch.complex64 for argument n of kernel'),
        (2**64, "OverflowError: Triton takes no int for argument n of kernel"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_argument_of_a_type_that_triton_refuses(value: Any, words: str) -> None:
    assert words in refused(X, value)


@pytest.mark.parametrize(
    "value", [1, True, None, 2.5, np.float64(2.5), X[1:], (1, X, None), 2**63, tl.constexpr(4)], ids=str
)
def test_argument_of_supported_type_is_accepted(value: Any) -> None:
    assert refused(X, value) == ""


def test_constant_may_have_any_type() -> None:
    assert (refused(X, 1, block="four"), refused(X, 1, block=[4])) == ("", "")


@pytest.mark.parametrize(
    ("args", "words"), [((), "kernel() missing 2 required"), ((X, 1, 2.0, 3, 4), "kernel() takes from 2 to 4")]
)
def test_call_with_the_wrong_arguments_names_the_kernel(args: tuple[Any, ...], words: str) -> None:
    assert words in refused(*args)


def test_too_many_threads_may_be_skipped_by_autotuner() -> None:
    with pytest.raises(OutOfResources):
        Refusals("sm_90").check(kernel, (X, 5), {"num_warps": 64}, (1,))
