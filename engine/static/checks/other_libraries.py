"""Output computed by a library's kernel.

Vendor libraries and collections of kernels are fast and correct, but not part of this file.  An optional import, and
arithmetic on sizes, are ordinary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.tensors import Origin
from engine.static.analysis.words import words
from engine.static.findings import hint

STRICT = "No library computes any part of the output."
CATCHES = (
    "import cupy as cp\ndef f(x, w):\n    return cp.matmul(x, w)\n",
    "from flash_attn import flash_attn_func as fa\ndef f(q, k, v):\n    return fa(q, k, v)\n",
    "import numpy as np\ndef f(x, w):\n    return np.dot(x.numpy(), w.numpy())\n",
    "import torch\ndef f(x):\n    return torch.ops.vllm.silu(x)\n",
    "SOURCE = '''torch::Tensor run(torch::Tensor a) { return at::matmul(a, a); }'''\n",
    "CUDA = '''void run() { cublasGemmEx(handle); }'''\n",
    "import scipy.special\ndef f(x):\n    return scipy.special.softmax(x)\n",
    "import triton\ndef f(x, w):\n    return triton.ops.matmul(x, w)\n",
    "from kernels import get_kernel\ndef f(x):\n    return get_kernel('activation').silu(x)\n",
)
SPARES = (
    "import numpy as np\ndef f(x):\n    n = np.prod(x.shape)\n    return launch(x, n)\n",
    "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\nHAS = flash_attn is not None\n",
    "import numpy as np\nKIND = np.float32(1.0)\nTABLE = np.arange(4)\n",
    "'''Faster than cublasGemmEx on short rows.'''\n",
    "SOURCE = '''__global__ void k(float* x) { x[0] = 1; }'''\n",
    "import torch\n@torch.library.custom_op('mine::silu', mutates_args=())\ndef silu(x):\n    return launch(x)\n"
    "def f(x):\n    return torch.ops.mine.silu(x)\n",
    "def f(x):\n    raise ValueError('cublasSgemm_v2 (column-major) is not written yet')\n",
    "import cupy\ndef f(x):\n    return launch(x, cupy.cuda.Device(0).attributes)\n",
    "from kernels import rows, settings\ndef f(x):\n    return rows(x, settings(x))\n",
    "SOURCE = '''at::Tensor run(at::Tensor a) { auto y = at::empty_like(a); k<<<1, 1>>>(y.data_ptr<float>()); "
    "return y; }'''\n",
)
_LIBRARIES = words(
    "flash_attn. flash_attn_interface. xformers. apex. flashinfer. vllm. sgl_kernel. sglang. liger_kernel. fla. "
    "transformer_engine. deepspeed. unsloth. torchao. bitsandbytes. triton.ops. triton_kernels. flag_gems. "
    "torch.ops.vllm. torch.ops._C. torch.ops.torchvision. torch.ops.sgl_kernel. torch.ops.flash_attn. "
    "torchvision.ops. scipy. jax.numpy. jax.nn. jax.lax. tensorflow. cudnn. nvmath. cublas. aiter. quack. "
    "deep_gemm. tilelang.ops. opt_einsum. einops.einsum torch_scatter. torch_sparse. "
    # Not all of `kernels`: files often call their own folder so.
    "kernels.get_kernel kernels.get_local_kernel kernels.get_locked_kernel kernels.load_kernel"
)
_SHOWN_CHARACTERS = 80
_ARRAYS = ("numpy.", "cupy.")
_ARRAY_OPERATORS = words(
    "matmul dot einsum tensordot inner outer vdot convolve correlate sort argsort cumsum cumprod exp log tanh sum "
    "mean max min maximum minimum add multiply subtract divide sqrt abs take where partition argpartition"
)
_CALLS_A_LIBRARY = re.compile(
    r"\b((?P<library>(cublas|cudnn)\w*)\s*\(|"
    r"(at|torch)::(nn::functional::)?(matmul|mm|bmm|addmm|linear|einsum|softmax|log_softmax|conv\w*|layer_norm|rms_norm|silu|gelu|"
    r"relu|sigmoid|tanh|exp|sum|mean|cumsum|sort|topk|embedding|gather|scaled_dot_product_attention)\s*\()",
    re.IGNORECASE,
)
# Searched separately in the names found: one combined pattern would take quadratic time in a long name.
_COMPUTES = re.compile(
    r"cublas.*?(gemm|Matmul|axpy|dot|gemv)|cudnn.*?(Forward|Convolution|Softmax|Attention|execute)", re.IGNORECASE
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for calls of kernel libraries, of array libraries on tensors, and for C++ text that calls one."""
    for node, name in reading.mentions(*_LIBRARIES):
        if isinstance(node, ast.Call):
            yield hint("other_libraries", node, f"{name} is a library function, not a kernel of this file")
    for node, name in reading.mentions(*_ARRAYS):
        if isinstance(node, ast.Call) and _computes_on_tensors(reading, node, name):
            yield hint("other_libraries", node, f"{name} computes outside of the kernels of this file")
    documentation = set(reading.docstrings())
    for constant in reading.host(ast.Constant):
        if isinstance(constant.value, str) and constant not in documentation:
            called = _called(constant.value)
            if called:
                yield hint("other_libraries", constant, f"C++ source calls the library operator {called}")


def _called(text: str) -> str:
    """The first library operator that this C++ text calls; "" for none, or for other languages."""
    for found in _CALLS_A_LIBRARY.finditer(text) if ";" in text else ():
        if found["library"] is None or _COMPUTES.match(found["library"]):
            return found[0].strip("( ")[:_SHOWN_CHARACTERS]
    return ""


def _computes_on_tensors(reading: Reading, call: ast.Call, name: str) -> bool:
    operator = name.rpartition(".")[2]
    if name.startswith(("numpy.linalg.", "numpy.fft.", "cupy.linalg.", "cupy.fft.")):
        return True
    if operator not in _ARRAY_OPERATORS or "." in name.partition(".")[2]:
        return False
    return name.startswith("cupy.") or any(_is_array(reading, item) for item in call.args)


def _is_array(reading: Reading, node: ast.expr) -> bool:
    if reading.tensors.origin(node) is not Origin.UNKNOWN:
        return True
    if isinstance(node, ast.Name):
        value = reading.names.only_value(node)
        return value is not None and _is_array(reading, value)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"
