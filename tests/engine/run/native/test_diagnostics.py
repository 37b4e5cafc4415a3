"""The first error of what real compilers wrote: nvcc 13.0, ptxas of it, GCC 12 and GNU ld 2.40."""

from __future__ import annotations

import pytest

from engine.run.native.diagnostics import CompilerError, first_error

EDG = """\
cuda_sources[0](3): error: identifier "z" is undefined
      if (i < n) y[i] = a * x[i] + z;
                                   ^

cuda_sources[0](9): error: identifier "undefined_fn" is undefined
  void go(float* x) { undefined_fn(x);}
                      ^

2 errors detected in the compilation of "t.cu".
"""
GCC = """\
cpp_sources[0]: In function 'at::Tensor relu_cpu(at::Tensor)':
cpp_sources[0]:10:16: error: 'undefined_name' was not declared in this scope
   10 |     return y + undefined_name;
"""
HEADER = "cuda_sources[0]:1:10: fatal error: cudnn.h: No such file or directory\ncompilation terminated.\n"
OWN_HEADER = "cuda_sources[0]:1:10: fatal error: mine.h: No such file or directory\ncompilation terminated.\n"
PTXAS = "ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x20000 bytes, 0xc000 max)\n"
LINKER = "/usr/bin/ld: main.cpp.o: in function `go':\nmain.cpp:(.text+0x1): undefined reference to `launch(float*)'\n"


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (
            EDG,
            CompilerError(
                message='identifier "z" is undefined', label="cuda_sources[0]", line=3, column=34, more=1
            ),
        ),
        (
            GCC,
            CompilerError(
                message="'undefined_name' was not declared in this scope", label="cpp_sources[0]", line=10, column=16
            ),
        ),
        (
            HEADER,
            CompilerError(
                message="cudnn.h: No such file or directory", label="cuda_sources[0]", line=1, column=10,
                missing="cudnn.h",
            ),
        ),
        (
            OWN_HEADER,
            CompilerError(message="mine.h: No such file or directory", label="cuda_sources[0]", line=1, column=10),
        ),
        (
            PTXAS,
            CompilerError(message="Entry function '_Z1kPf' uses too much shared data (0x20000 bytes, 0xc000 max)"),
        ),
        (LINKER, CompilerError(message="undefined reference to `launch(float*)'")),
        ("something else\n", CompilerError(message="something else")),
        ("", CompilerError(message="the compiler failed without a message")),
    ],
    ids=["edg", "gcc", "library header", "own header", "ptxas", "linker", "unknown", "silent"],
)  # fmt: skip
def test_the_first_error_is_found_with_its_place(output: str, error: CompilerError) -> None:
    assert first_error(output) == error
