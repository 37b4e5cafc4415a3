"""When a candidate counts as proven: every case with an answer has a proof, and one has an answer."""

from __future__ import annotations

from typing import Any, cast

import pytest

from engine.probes.lab.case_session import Lab
from tests.engine.probes.scripted import passed

CASES = (passed("a"), passed("b"), passed("empty", elements=0))
UNUSED = cast(Any, None)  # cast: parts of a lab that are not asked


@pytest.mark.parametrize(
    ("names", "proven", "is_proven"),
    [
        (("a", "b", "empty"), {"a", "b"}, True),
        (("a", "b", "empty"), {"a", "b", "empty"}, True),
        (("a", "b"), {"a"}, False),
        (("a",), set(), False),
        (("empty",), {"empty"}, False),
        ((), set(), False),
    ],
)
def test_every_case_with_answer_has_proof(names: tuple[str, ...], proven: set[str], is_proven: bool) -> None:
    lab = Lab(
        plan=UNUSED, device=UNUSED, session=UNUSED, process_pool=UNUSED, limits=UNUSED, profile=UNUSED,
        passed=[one for one in CASES if one.case.name in names], proven=frozenset(proven),
    )  # fmt: skip
    assert lab.is_proven is is_proven
