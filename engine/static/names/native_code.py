"""Names in the CUDA and C++ that a file compiles: operators of PyTorch, libraries, streams, host queries.

A row here searches the texts that the syntax tree shows, without their comments.  Uses through a macro or a header are
not found: spelling only hints, and the device's record shows which kernels actually ran.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from engine.model import Location
from engine.model.native import Extension, NativeText
from engine.static.analysis import Reading
from engine.static.analysis.vocabulary import Weight, weight_of, weight_of_method
from engine.static.names.matching import Match, NameCheck, Pattern, Unless
from engine.static.native.code import is_launched, kernels_of, without_comments
from engine.static.native.extensions import extensions_of

_KEPT = 4
_SETS_UP = r"(?!\w*(?:Create|Destroy|Set[A-Z]|Get[A-Z]))"


@lru_cache(maxsize=_KEPT)
def _extensions(reading: Reading) -> tuple[Extension, ...]:
    """The extensions of a file, found once for all rows."""
    return extensions_of(reading)


@lru_cache(maxsize=1 << 6)
def _code(text: NativeText) -> str:
    return without_comments(text.text, strings=True)


def _mark(name: str, place: Location) -> ast.Name:
    """A node at a place inside a string, where no node of the syntax tree is."""
    return ast.Name(id=name, lineno=place.line, col_offset=(place.column or 1) - 1)


def _never(reading: Reading, node: ast.AST, name: str) -> bool:
    return False


def _native(regex: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Pattern of a regular expression in the texts; its first group is the name."""
    compiled = re.compile(regex)

    def matches(reading: Reading) -> Iterator[Match]:
        for extension in _extensions(reading):
            for text in extension.texts:
                for found in compiled.finditer(_code(text)):
                    yield _mark(found.group(1), text.at(found.start(1))), found.group(1)

    return Pattern(matches, sentence, unless)


def _computes_nothing(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether a function of PyTorch only allocates, views, copies, describes or checks."""
    dotted = name.replace("::", ".").replace("at.", "torch.", 1) if name.startswith("at::") else name.replace("::", ".")
    return weight_of(re.sub(r"\.(?:native|_ops)\.", ".", dotted)) is None


def _is_no_heavy_method(reading: Reading, node: ast.AST, name: str) -> bool:
    return weight_of_method(name) is not Weight.HEAVY


def _unlaunched(reading: Reading) -> Iterator[Match]:
    """Kernels that no text of their extension launches or passes on."""
    for extension in _extensions(reading):
        if extension.unknown or extension.kind != "load_inline":
            continue
        whole = "\n".join(text.text for text in extension.texts)
        for text in extension.texts:
            for kernel in kernels_of(text.text):
                if not is_launched(kernel.name, whole):
                    yield _mark(kernel.name, text.at(kernel.offset)), kernel.name


def _inline(cuda: str, cpp: str = "void go(torch::Tensor x);") -> str:
    """A file that compiles these two texts, as an example."""
    return (
        f"from torch.utils.cpp_extension import load_inline\nm = load_inline('m', '''{cpp}''', '''{cuda}''', "
        "functions=['go'])\ndef f(x):\n    return m.go(x)\n"
    )


_KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
_HONEST = _KERNEL + (
    "torch::Tensor go(torch::Tensor x) {\n  TORCH_CHECK(x.is_cuda());\n  auto y = torch::empty_like(x);\n"
    "  // not at::softmax(x, -1), nor cublasSgemm\n  k<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>"
    "(y.data_ptr<float>());\n  return y;\n}\n"
)

NATIVE_CHECKS = (
    NameCheck(
        name="native_torch_compute",
        why="An extension whose C++ calls PyTorch's operators leaves the work to PyTorch's kernels.",
        strict="The CUDA or C++ source calls no operator of PyTorch that computes.",
        patterns=(
            _native(
                r"\b((?:at|torch)::(?:[a-z]\w*::)*[a-z_]\w*)\s*\(",
                "{name} computes with PyTorch's kernels",
                unless=_computes_nothing,
            ),
            _native(
                r"\.(\w+)\s*\(", ".{name}() of a tensor computes with PyTorch's kernels", unless=_is_no_heavy_method
            ),
        ),
        catches=(
            _inline("torch::Tensor go(torch::Tensor x) { return at::softmax(x, -1); }"),
            _inline("torch::Tensor go(torch::Tensor x) { return torch::mm(x, x); }"),
            _inline("torch::Tensor go(torch::Tensor x) { return x.matmul(x); }"),
        ),
        spares=(
            _inline(_HONEST),
            _inline("torch::Tensor go(torch::Tensor x) { return x.contiguous().view({-1}); }"),
            "TEXT = 'at::softmax(x, -1)'\ndef f(x):\n    return x\n",
        ),
    ),
    NameCheck(
        name="native_library",
        why="A call of cuBLAS, cuDNN, Thrust or CUB runs the library's kernels, and not the file's.",
        strict="The CUDA source calls no library that computes.",
        patterns=(
            _native(
                rf"\b((?:cublas|cudnn|cufft|cusparse|cusolver){_SETS_UP}(?:Lt|Dn|Sp|Xt)?[A-Z]\w*)\s*\(",
                "{name} runs kernels of a library",
            ),
            _native(
                r"\b(at::cuda::blas::\w+|thrust::[a-z]\w*|cub::Device\w+)\s*[(:]", "{name} runs kernels of a library"
            ),
        ),
        catches=(
            _inline("void go(torch::Tensor x) { cublasSgemm(h, n, n, 1, 1, 1, &a, p, 1, p, 1, &b, p, 1); }"),
            _inline("void go(torch::Tensor x) { cudnnSoftmaxForward(h, a, m, &o, d, p, &z, d, p); }"),
            _inline("void go(torch::Tensor x) { thrust::sort(p, p + 4); }"),
        ),
        spares=(
            _inline(_HONEST),
            _inline("void go(torch::Tensor x) { cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, 0); }"),
            _inline("struct Cublas {};\nvoid go(torch::Tensor x) { cub::BlockReduce<float, 4> r; }"),
        ),
    ),
    NameCheck(
        name="native_stream",
        why="Work on another stream or thread may not be done, and not be timed, when the call returns.",
        strict="All work is on the current stream and thread.",
        patterns=(
            _native(
                r"\b((?:cuda|cu)StreamCreate\w*|getStreamFromPool|(?:cuda|cu)LaunchHostFunc|cudaStreamAddCallback"
                r"|std::(?:thread|jthread|async)|pthread_create)\b",
                "{name}: its work may not be done when the call returns",
            ),
        ),
        catches=(
            _inline("void go(torch::Tensor x) { cudaStream_t s; cudaStreamCreateWithFlags(&s, 1); }"),
            _inline("void go(torch::Tensor x) { std::thread t(work); t.detach(); }"),
        ),
        spares=(_inline(_HONEST), _inline("void go(torch::Tensor x) { cudaStreamSynchronize(0); }")),
    ),
    NameCheck(
        name="native_constant",
        why="A tensor that the host fills and returns holds an answer that no kernel computed.",
        strict="The output is computed by a kernel.",
        patterns=(
            _native(
                r"\breturn\s+((?:at|torch)::(?:zeros|ones|full|empty|scalar_tensor|tensor|from_blob)(?:_like)?)\s*\(",
                "returns {name}(...), which no kernel wrote to",
            ),
        ),
        catches=(_inline("torch::Tensor go(torch::Tensor x) { return torch::zeros_like(x); }"),),
        spares=(_inline(_HONEST),),
    ),
    NameCheck(
        name="native_process",
        why="Native code can access other memory, files, programs and Python itself without an entry in the audit.",
        strict="The native code uses its tensor arguments, and nothing else of the process.",
        patterns=(
            _native(
                r"(?<![\w.:>])((?:std::)?(?:system|fopen|getenv|setenv)|dlopen|dlsym|dlmopen|popen|v?fork|exec[lv]\w*|ptrace"
                r"|mprotect|mmap|process_vm_\w+|syscall|socket|PyRun_\w+|PyImport_\w+|PyEval_\w+|py::exec|py::eval"
                r"|py::module_?::import|cuGetProcAddress\w*|cudaGetDriverEntryPoint\w*)\s*\(",
                "{name} accesses more than the tensors of the call",
            ),
            _native(r"\b(std::[io]?fstream)\b", "{name} accesses more than the tensors of the call"),
        ),
        catches=(
            _inline("void go(torch::Tensor x) { void* p = dlsym(0, 0); }"),
            _inline("void go(torch::Tensor x) { py::module_::import(0); }"),
            _inline('void go(torch::Tensor x) { std::ofstream out("answer"); }'),
        ),
        spares=(
            _inline(_HONEST),
            _inline("void go(torch::Tensor x) { file.open(); fs::system_error(1); }"),
            _inline("void go(torch::Tensor x) { std::ostringstream text; }"),
        ),
    ),
    NameCheck(
        name="native_unlaunched",
        why="A CUDA kernel that no source launches computes nothing.",
        strict="",
        patterns=(Pattern(_unlaunched, "CUDA kernel {name} is never launched in its extension", _never),),
        catches=(_inline(_KERNEL + "torch::Tensor go(torch::Tensor x) { return x; }"),),
        spares=(_inline(_HONEST), _inline("__global__ void k(float*);\n" + _HONEST)),
    ),
)
