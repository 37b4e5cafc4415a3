"""Cases that fit into memory, and the sentences on those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from engine.errors import UnsupportedError
from engine.model import Case, DType, Tier
from problems.suites.fitting_cases import fitting_cases
from problems.suites.plan import CASE, PlannedTask

if TYPE_CHECKING:
    from problems.suites.task import Task

TOO_LARGE = 1 << 60


class NamedTask:
    """A task of which only the name is read."""

    name = "level1/sum"


def planned(*names: str, sizes: dict[str, int] | None = None) -> PlannedTask:
    cases = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={CASE: name}) for name in names)
    return PlannedTask(
        task=cast("Task", NamedTask()), contract={"cases": cases}, harness="", file="", files={}, details={},
        sizes=sizes or {}, version="",
    )  # fmt: skip


def test_workload_beyond_memory_is_left_out_with_note() -> None:
    found = fitting_cases(planned("small", "large"), {"small": 8, "large": TOO_LARGE})
    assert [case.name for case in found.cases] == ["small"]
    (note,) = found.notes
    assert note.startswith("workload large is left out: it has 1,152,921,504,606,846,976 bytes of inputs and outputs")


def test_task_without_fitting_workload_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"^level1/sum has 1,152,921,504,606,846,976 bytes of inputs, weights"):
        fitting_cases(planned("large", "larger"), {"large": TOO_LARGE, "larger": 2 * TOO_LARGE})


@pytest.mark.parametrize(
    ("sizes", "advice"),
    [({}, "it has no sizes to make smaller"), ({"N": 4096}, r"--cap N or --size NAME=N \(N=4096\)")],
)
def test_too_large_task_names_the_sizes_to_reduce(sizes: dict[str, int], advice: str) -> None:
    with pytest.raises(UnsupportedError, match=advice):
        fitting_cases(planned("only", sizes=sizes), TOO_LARGE)


@pytest.mark.parametrize("needed_bytes", [None, 8, {}])
def test_small_or_unknown_sizes_keep_every_case(needed_bytes: int | dict[str, int] | None) -> None:
    found = fitting_cases(planned("first", "second"), needed_bytes)
    assert ([case.name for case in found.cases], found.notes) == (["first", "second"], ())
