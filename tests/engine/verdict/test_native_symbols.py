"""Symbols as nvcc 13.0 makes them of kernels, and whose they are."""

from __future__ import annotations

import pytest

from engine.verdict.native_symbols import NativeKernels, parts_of

OWN = NativeKernels(
    names=frozenset({"axpy_kernel", "inner", "gemm"}), plain=frozenset({"plain"}), namespaces=frozenset({"mine"})
)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z11axpy_kernelPKfPffi", "axpy_kernel"),
        ("_Z11axpy_kernelIfEvPT_", "axpy_kernel"),
        ("_ZN4mine36_GLOBAL__N__9459ee68_4_t_cu_311788e05innerEPf", "inner"),
        ("plain", "plain"),
        ("inner", None),
        ("_ZN7cutlass4gemmEPf", None),
        ("_Z4otherPf", None),
        ("ampere_sgemm_128x64_nn", None),
        ("_Z99inner", None),
        ("", None),
    ],
)
def test_symbol_defined_in_source_is_own(symbol: str, name: str | None) -> None:
    assert OWN.name_of(symbol) == name


def test_symbol_parts_end_at_template_arguments() -> None:
    assert parts_of("_ZN2at6native13reduce_kernelILi512EEEvT_") == ("at", "native", "reduce_kernel")
