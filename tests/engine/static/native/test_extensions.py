"""Which native code a file compiles, as its syntax tree shows it."""

from __future__ import annotations

import pytest

from engine.model import Location
from engine.model.native import Extension, ExtensionKind, NativeLanguage
from engine.model.parsing import parse
from engine.static.analysis import Reading
from engine.static.checks import read_statically
from engine.static.native.extensions import extensions_of

INLINE = "from torch.utils.cpp_extension import load_inline\n"


def only(source: str) -> Extension:
    """The one extension of a file."""
    (found,) = extensions_of(Reading.of(source, entry="f"))
    return found


def test_call_is_read_with_names_texts_and_functions() -> None:
    found = only(
        INLINE + "CUDA = ['a', 'b']\nCPP = 'c'\n"
        "m = load_inline(name='mine', cpp_sources=CPP, cuda_sources=CUDA, functions=['go', 'stop'])\n"
    )
    assert (found.kind, found.name, found.functions, found.line) == (ExtensionKind.INLINE, "mine", ("go", "stop"), 4)
    assert [(text.label, text.language, text.text) for text in found.texts] == [
        ("cpp_sources[0]", NativeLanguage.CPP, "c"),
        ("cuda_sources[0]", NativeLanguage.CUDA, "a"),
        ("cuda_sources[1]", NativeLanguage.CUDA, "b"),
    ]
    assert not found.unknown


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import torch.utils.cpp_extension as e\nm = e.load_inline('m', 'x', 'y')\n", ExtensionKind.INLINE),
        ("import torch\nm = torch.utils.cpp_extension.load('m', ['a.cu'])\n", ExtensionKind.FILES),
        ("import torch\nk = torch.cuda._compile_kernel('x', 'k')\n", ExtensionKind.NVRTC),
        ("import cupy\nk = cupy.RawKernel('x', 'k')\n", ExtensionKind.NVRTC),
        ("import cupy as cp\nm = cp.RawModule(code='x')\n", ExtensionKind.NVRTC),
        (INLINE + "def f(x):\n    return load_inline('m', 'x', 'y').f(x)\n", ExtensionKind.INLINE),
    ],
)
def test_a_builder_is_found_under_each_spelling(source: str, kind: ExtensionKind) -> None:
    assert only(source).kind is kind


@pytest.mark.parametrize(
    ("call", "clause"),
    [
        ("load_inline('m', 'a', [make()])", "cuda_sources[0] is computed when the file is loaded"),
        ("load_inline('m', 'a', 'b' + make())", "parts of cuda_sources[0] are computed when the file is loaded"),
        ("load_inline('m', **MORE)", "some arguments are unpacked from a value that cannot be seen"),
        ("print(load_inline)", "load_inline is passed on as a value, and its arguments cannot be seen"),
    ],
)
def test_unreadable_extension_is_note(call: str, clause: str) -> None:
    reading = Reading.of(INLINE + call + "\n")
    assert clause in [part for found in extensions_of(reading) for part in found.unknown]
    assert f"could not check: {clause}" in [found.message for found in read_statically(reading.tree, reading.text)]


@pytest.mark.parametrize("source", ["x = 1\n", INLINE, INLINE + "def unused():\n    load_inline('m', 'x')\n"])
def test_a_file_that_compiles_nothing_has_no_extension(source: str) -> None:
    assert extensions_of(Reading.of(source + "def f(x):\n    return x\n", entry="f")) == ()


@pytest.mark.parametrize(
    ("line", "column", "place"),
    [
        (2, 3, Location(line=3, column=3)),
        (2, None, Location(line=3)),
        (1, 99, Location(line=2, column=10)),
        (9, 1, None),
    ],
)
def test_compiler_location_is_mapped_to_the_file(line: int, column: int | None, place: Location | None) -> None:
    (text,) = only(INLINE + "T = '''ab\n  error'''\nload_inline('m', T)\n").texts
    assert text.location_of(line, column) == place


def test_a_finding_is_placed_inside_the_string() -> None:
    source = (
        INLINE + "T = '''\nauto f(auto x) {\n  return at::softmax(x);\n}'''\nm = load_inline('m', '', cuda_sources=T)\n"
    )
    found = next(one for one in read_statically(parse(source), source) if one.check == "native_torch_compute")
    assert found.location == Location(line=4, column=10)
