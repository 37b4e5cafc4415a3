"""Machine code or encoded data in place of a kernel's source.

A cubin, PTX or a long base64 string cannot be reviewed, and may be a library's kernel.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.findings import hint

_LONG = 400
_ENCODED = re.compile(r"[A-Za-z0-9+/=_\-\s]+|[A-Za-z0-9!#$%&()*+\-;<=>?@^_`{|}~\s]+")
_WORDS = re.compile(r"[A-Za-z]{2} [A-Za-z]{2}|\n *#|\n {4}")

STRICT = "Kernels are in the file as source text."
CATCHES = (
    "import base64\nCODE = base64.b64decode('aGVsbG8=')\n",
    "import zlib\ndef f(x):\n    return zlib.decompress(x)\n",
    f"BLOB = '{'QUJD' * 150}'\n",
    f"BLOB = {bytes(range(256)) * 2!r}\n",
    "PTX = '''\n.version 8.0\n.target sm_90\n.visible .entry k() { ret; }\n'''\n",
    "import ctypes\ncuda = ctypes.CDLL('libcuda.so')\ndef f(x):\n    cuda.cuModuleLoadData(x)\n",
    "from pathlib import Path\ndef f(x):\n    return load(Path('kernel.cubin').read_bytes())\n",
)
SPARES = (
    "DOC = '''" + "A long text of plain words about tiles and rows. " * 20 + "'''\n",
    "SOURCE = '''\n__global__ void k(float* x) {\n    int i = threadIdx.x;\n    x[i] = x[i] * 2;\n}\n''' * 9\n",
    "NAME = 'sm_90'\nCONFIGS = [{'BLOCK': 64}] * 40\n",
    "@triton.jit\ndef k(x):\n"
    "    return tl.inline_asm_elementwise('ex2.approx.f32 $0, $1;', '=f,f', [x], tl.float32, True, 1)\n",
    "import hashlib\nKEY = hashlib.sha256(b'x').hexdigest()\n",
    f"TABLE = {list(range(300))!r}\n",
    "import json\nPLANS = json.loads('{\"64\": 4}')\n",
)
_DECODERS = words(
    "base64. binascii.unhexlify binascii.a2b_base64 binascii.a2b_hex zlib.decompress lzma.decompress bz2.decompress "
    "gzip.decompress zlib.decompressobj codecs.decode"
)
_LOADERS = re.compile(r"cu(Module|Library)Load|cudaLibraryLoad|hipModuleLoad|load_cubin|load_binary|loadData", re.ASCII)
_ARTEFACT = re.compile(r"\.(cubin|fatbin|ptx|hsaco|spv|metallib)\b")
_ASSEMBLY = re.compile(r"^[^\S\n]*\.(version|target|visible|amdgcn_target)\b", re.MULTILINE)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for decoders, module loaders, files of machine code and long constants that are not text."""
    for node, name in reading.mentions(*_DECODERS):
        yield hint("precompiled_code", node, f"{name} decodes data that cannot be reviewed")
    for attribute in reading.host(ast.Attribute):
        if _LOADERS.search(attribute.attr):
            yield hint("precompiled_code", attribute, f"{attribute.attr} loads machine code, not source")
    documentation = set(reading.docstrings())
    for constant in reading.host(ast.Constant):
        said = _remark(constant.value) if constant not in documentation else None
        if said is not None:
            yield hint("precompiled_code", constant, said)


def _remark(value: object) -> str | None:
    if isinstance(value, bytes):
        return f"{len(value)} bytes of binary data" if len(value) >= _LONG else None
    if not isinstance(value, str):
        return None
    if _ARTEFACT.search(value) and len(value) < _LONG:
        return f"{value!r} is a file of machine code, not source"
    if _ASSEMBLY.search(value):
        return "string is compiler-generated assembly"
    if (
        len(value) >= _LONG
        and not _WORDS.search(value)
        and _ENCODED.fullmatch(value)
        and value.count(" ") < len(value) / 40
    ):
        return f"string of {len(value)} characters looks encoded"
    return None
