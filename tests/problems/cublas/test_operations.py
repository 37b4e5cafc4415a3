"""Every operation that a contract of cuBLAS names is that of some case."""

from __future__ import annotations

import pytest

from tests.operators import NAMES, definition, described

CONJUGATING = [name for name in NAMES if '"C"' in described(name).contract and name != "cublas::cublasCsyrkEx"]
"""Operators that take "C"; Csyrk names it as outside of the contract."""


@pytest.mark.parametrize("name", CONJUGATING)
def test_every_operation_of_the_contract_has_a_case(name: str) -> None:
    operations = {letter.upper() for case in definition(name).cases for letter in case.word("trans")}
    assert operations == {"N", "T", "C"}
