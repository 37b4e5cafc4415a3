"""What a reader of CUDA C++ without a compiler can tell."""

from __future__ import annotations

import pytest

from engine.static.native.code import is_launched, kernels_of, namespaces_of, without_comments


def test_comments_become_spaces_of_the_same_length() -> None:
    text = 'a // b\n/* c\nd */ "// e" f'
    assert without_comments(text) == 'a     \n    \n     "// e" f'
    assert len(without_comments(text, strings=True)) == len(text)


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ("__global__ void k(float* x) {}", [("k", False)]),
        ("template <int N>\n__global__ __launch_bounds__(N * (2 + 1), 2)\nvoid k(float* x) {}", [("k", False)]),
        ('extern "C" __global__ void k() {}', [("k", True)]),
        ("static __global__ void __launch_bounds__(256) k() {}\n__global__ void k();", [("k", False)]),
        ("// __global__ void k() {}\n", []),
        ("__device__ float f(float x) { return x; }", []),
    ],
)
def test_kernels_are_found_by_their_names(text: str, kernels: list[tuple[str, bool]]) -> None:
    assert [(kernel.name, kernel.is_extern_c) for kernel in kernels_of(text)] == kernels


@pytest.mark.parametrize(
    ("text", "launched"),
    [
        ("__global__ void k() {} void go() { k<<<1, 1>>>(); }", True),
        ("__global__ void k() {} void go() { cudaLaunchKernel((void*)k, 1, 1, 0); }", True),
        ("__global__ void k(); __global__ void k() {}", False),
        ("__global__ void k() {} // k<<<1, 1>>>()", False),
    ],
)
def test_native_kernel_launch_is_found_by_name(text: str, launched: bool) -> None:
    assert is_launched("k", text) is launched


def test_namespaces_are_those_that_are_opened() -> None:
    assert namespaces_of("namespace mine { namespace { } } // namespace other") == {"mine"}
