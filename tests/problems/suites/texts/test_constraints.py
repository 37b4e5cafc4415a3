"""Which integer inputs a definition determines, by its constraints and the names of the dataset."""

from __future__ import annotations

import pytest

from problems.suites.texts.constraints import Kind, determined

AXES = ("batch_size", "total", "num_pages", "page_size", "len_indptr")


@pytest.mark.parametrize(
    "constraint", ["total == indptr[-1].item()", "indptr[-1] == total", " total==indptr[-1].item() "]
)
def test_offsets_end_at_axis_of_constraint(constraint: str) -> None:
    given = ["len_indptr == batch_size + 1", "not python (", constraint]

    assert determined({"indptr": ["len_indptr"]}, AXES, given) == {"indptr": (Kind.OFFSETS, "total")}


@pytest.mark.parametrize("constraint", ["total >= indptr[-1]", "total == indptr[0]", "other == indptr[-1]", ""])
def test_offsets_without_end_not_determined(constraint: str) -> None:
    assert determined({"indptr": ["len_indptr"]}, AXES, [constraint]) == {}


def test_pages_by_their_names() -> None:
    inputs = {"kv_indices": ["total"], "kv_last_page_len": ["batch_size"], "slot": ["total"], "top_k_indices": None}

    assert determined(inputs, AXES, []) == {
        "kv_indices": (Kind.INDICES, "num_pages"),
        "kv_last_page_len": (Kind.LENGTHS, "page_size"),
    }
    assert determined(inputs, ("total",), []) == {}
