"""What the checks say of whole CUDA candidates, those that the benchmark runs on a GPU."""

from __future__ import annotations

import pytest

from engine.model.parsing import parse
from engine.static.checks import read_statically
from tests.benchmarks.gpu.cuda_texts import CANDIDATES


@pytest.mark.parametrize("name", CANDIDATES)
def test_only_candidate_calling_library_gets_hint(name: str) -> None:
    text = CANDIDATES[name]
    source = text.source("bench")
    found = {one.check for one in read_statically(parse(source), source, text.operator.rpartition("::")[2])}
    native = {check for check in found if check.startswith("native")}
    assert native == ({"native_torch_compute"} if text.expected == "flagged" else set())
