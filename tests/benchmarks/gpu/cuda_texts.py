"""Ten CUDA candidates: six honest ones, two that are wrong, and two that leave the work to a library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DISPATCH = 'AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, {tensor}.scalar_type(), "k", [&] {{ {body} }});'


@dataclass(frozen=True, kw_only=True)
class CudaText:
    """One candidate: its operator, the CUDA text with a function `go`, that function's C++ signature, and its entry.

    `expected` is the verdict that it must come to on a GPU: pass, wrong_value, or flagged.
    """

    operator: str
    expected: str
    cuda: str
    signature: str
    entry: str

    def source(self, name: str) -> str:
        """The candidate's file."""
        return (
            f"# kgtui: op={self.operator}\nimport torch\nfrom torch.utils.cpp_extension import load_inline\n\n"
            f'CUDA = r"""{self.cuda}"""\n'
            f'module = load_inline(name="{name}", cpp_sources="{self.signature};", cuda_sources=CUDA, '
            f'functions=["go"])\n\n\n{self.entry}'
        )


def _elementwise(expression: str) -> str:
    """A kernel that applies an expression to each element `v`, in float, or in double where the elements are."""
    launch = DISPATCH.format(
        tensor="c",
        body="each<scalar_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>"
        "(c.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);",
    )
    return f"""
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
template <typename T> __global__ void each(const T* x, T* y, int64_t n) {{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {{ at::opmath_type<T> v = x[i]; y[i] = static_cast<T>({expression}); }}
}}
torch::Tensor go(torch::Tensor x) {{
    auto c = x.contiguous();
    auto y = torch::empty_like(c);
    int64_t n = c.numel();
    if (n) {{ {launch} }}
    return y;
}}
"""


_AXPY = """
#include <ATen/cuda/CUDAContext.h>
__global__ void axpy_kernel(int64_t n, float a, const float* x, int64_t incx, float* y, int64_t incy) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        int64_t p = incx < 0 ? (i - n + 1) * incx : i * incx, q = incy < 0 ? (i - n + 1) * incy : i * incy;
        y[q] = a * x[p] + y[q];
    }
}
void go(int64_t n, double a, torch::Tensor x, int64_t incx, torch::Tensor y, int64_t incy) {
    if (n)
        axpy_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            n, a, x.data_ptr<float>(), incx, y.data_ptr<float>(), incy);
}
"""
_SOFTMAX = """
#include <ATen/cuda/CUDAContext.h>
template <typename T> __global__ void softmax_rows(const T* x, T* y, int64_t cols) {
    __shared__ float part[256];
    const T* row = x + blockIdx.x * cols;
    float most = -INFINITY;
    bool bad = false;
    for (int64_t i = threadIdx.x; i < cols; i += 256) {
        float v = static_cast<float>(row[i]);
        bad |= isnan(v);
        most = fmaxf(most, v);
    }
    part[threadIdx.x] = bad ? NAN : most;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) {
            float a = part[threadIdx.x], b = part[threadIdx.x + half];
            part[threadIdx.x] = isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
        }
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0;
    for (int64_t i = threadIdx.x; i < cols; i += 256) sum += expf(static_cast<float>(row[i]) - most);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    sum = part[0];
    for (int64_t i = threadIdx.x; i < cols; i += 256)
        y[blockIdx.x * cols + i] = static_cast<T>(expf(static_cast<float>(row[i]) - most) / sum);
}
torch::Tensor go(torch::Tensor x) {
    auto c = x.contiguous();
    auto y = torch::empty_like(c);
    int64_t cols = c.size(-1);
    if (c.numel()) {
        LAUNCH
    }
    return y;
}
""".replace(
    "LAUNCH",
    DISPATCH.format(
        tensor="c",
        body="softmax_rows<scalar_t><<<c.numel() / cols, 256, 0, at::cuda::getCurrentCUDAStream()>>>"
        "(c.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), cols);",
    ),
)
_SOFTMAX_ENTRY = """def softmax(self, dim, dtype=None):
    x = self.to(dtype) if dtype is not None else self
    if not x.dim():
        return torch.ones_like(x) * (x - x + 1)
    return module.go(x.movedim(dim, -1)).movedim(-1, dim)
"""
_RMS_NORM = """
#include <ATen/cuda/CUDAContext.h>
template <typename T>
__global__ void rms_rows(T* out, const T* x, const T* w, int64_t cols, float eps) {
    __shared__ float part[256];
    const T* row = x + blockIdx.x * cols;
    float sum = 0;
    for (int64_t i = threadIdx.x; i < cols; i += 256) {
        float v = static_cast<float>(row[i]);
        sum += v * v;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(part[0] / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += 256) {
        T normal = static_cast<T>(static_cast<float>(row[i]) * scale);
        out[blockIdx.x * cols + i] = static_cast<T>(static_cast<float>(normal) * static_cast<float>(w[i]));
    }
}
void go(torch::Tensor out, torch::Tensor x, torch::Tensor w, double eps) {
    auto c = x.contiguous(), v = w.contiguous();
    auto y = torch::empty_like(c);
    int64_t cols = c.size(-1);
    if (c.numel()) {
        LAUNCH
    }
    out.copy_(y);
}
""".replace(
    "LAUNCH",
    DISPATCH.format(
        tensor="c",
        body="rms_rows<scalar_t><<<c.numel() / cols, 256, 0, at::cuda::getCurrentCUDAStream()>>>"
        "(y.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), cols, eps);",
    ),
)
_MM = """
#include <ATen/cuda/CUDAContext.h>
template <typename T> __global__ void mm_tiles(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
    __shared__ float left[16][16], right[16][16];
    int64_t row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int64_t first = 0; first < k; first += 16) {
        int64_t i = first + threadIdx.x, j = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && i < k ? static_cast<float>(a[row * k + i]) : 0.0f;
        right[threadIdx.y][threadIdx.x] = j < k && col < n ? static_cast<float>(b[j * n + col]) : 0.0f;
        __syncthreads();
        int64_t width = k - first < 16 ? k - first : 16;
        for (int t = 0; t < width; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = static_cast<T>(sum);
}
torch::Tensor go(torch::Tensor x, torch::Tensor y) {
    auto a = x.contiguous(), b = y.contiguous();
    int64_t m = a.size(0), k = a.size(1), n = b.size(1);
    auto c = torch::empty({m, n}, a.options());
    if (c.numel()) {
        dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
        LAUNCH
    }
    return c;
}
""".replace(
    "LAUNCH",
    DISPATCH.format(
        tensor="a",
        body="mm_tiles<scalar_t><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>"
        "(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(), m, n, k);",
    ),
)
_ONE, _TWO = "torch::Tensor go(torch::Tensor x)", "torch::Tensor go(torch::Tensor x, torch::Tensor y)"
_SILU = "def silu(self):\n    return module.go(self)\n"

CANDIDATES: Mapping[str, CudaText] = {
    "axpy": CudaText(
        operator="cublas::cublasSaxpy_v2",
        expected="pass",
        cuda=_AXPY,
        signature="void go(int64_t n, double a, torch::Tensor x, int64_t incx, torch::Tensor y, int64_t incy)",
        entry="def cublasSaxpy_v2(n, alpha, x, incx, y, incy):\n"
        "    module.go(n, alpha, x, incx, y, incy)\n    return y\n",
    ),
    "silu": CudaText(
        operator="aten::silu", expected="pass", cuda=_elementwise("v / (1.0f + expf(-v))"), signature=_ONE, entry=_SILU
    ),
    "hardsigmoid": CudaText(
        operator="aten::hardsigmoid",
        expected="pass",
        cuda=_elementwise("isnan(v) ? v : v <= -3 ? 0 : v >= 3 ? 1 : (v + 3) / 6"),
        signature=_ONE,
        entry="def hardsigmoid(self):\n    return module.go(self)\n",
    ),
    "softmax": CudaText(operator="aten::softmax", expected="pass", cuda=_SOFTMAX, signature=_ONE, entry=_SOFTMAX_ENTRY),
    "rms_norm": CudaText(
        operator="vllm::rms_norm",
        expected="pass",
        cuda=_RMS_NORM,
        signature="void go(torch::Tensor out, torch::Tensor x, torch::Tensor w, double eps)",
        entry="def rms_norm(out, input, weight, epsilon):\n    module.go(out, input, weight, epsilon)\n",
    ),
    "mm_tiles": CudaText(
        operator="aten::mm",
        expected="pass",
        cuda=_MM,
        signature=_TWO,
        entry="def mm(self, mat2):\n    return module.go(self, mat2)\n",
    ),
    "wrong_silu": CudaText(
        operator="aten::silu",
        expected="wrong_value",
        cuda=_elementwise("v / (1.0f + exp2f(-v))"),
        signature=_ONE,
        entry=_SILU,
    ),
    "wrong_mm": CudaText(
        operator="aten::mm",
        expected="wrong_value",
        cuda=_MM.replace("first < k; first += 16", "first + 16 <= k; first += 16"),
        signature=_TWO,
        entry="def mm(self, mat2):\n    return module.go(self, mat2)\n",
    ),
    "library_mm": CudaText(
        operator="aten::mm",
        expected="flagged",
        cuda="\ntorch::Tensor go(torch::Tensor x, torch::Tensor y) { return at::mm(x, y); }\n",
        signature=_TWO,
        entry="def mm(self, mat2):\n    return module.go(self, mat2)\n",
    ),
    "library_softmax": CudaText(
        operator="aten::softmax",
        expected="flagged",
        cuda="\ntorch::Tensor go(torch::Tensor x) { return at::softmax(x, -1); }\n",
        signature=_ONE,
        entry=_SOFTMAX_ENTRY,
    ),
}

_LOOKS = "(void)*(volatile const char*)"
_BODY = "if (i < n) {"
_SILU_TEXT = _elementwise("v / (1.0f + expf(-v))")
SANITIZED: Mapping[str, CudaText] = {
    "reads_behind_end": CudaText(
        operator="aten::silu",
        expected="memcheck",
        cuda=_SILU_TEXT.replace(_BODY, f"{_BODY} {_LOOKS}(x + i + 1);"),
        signature=_ONE,
        entry=_SILU,
    ),
    "races_in_shared_memory": CudaText(
        operator="aten::silu",
        expected="racecheck",
        cuda=_SILU_TEXT.replace(
            _BODY,
            "__shared__ volatile float part[256]; part[threadIdx.x] = i; float other = part[255 - threadIdx.x];\n"
            "    if (other < -1) y[0] = x[0];\n    " + _BODY,
        ),
        signature=_ONE,
        entry=_SILU,
    ),
}
"""Right answers with an error that a tool of compute-sanitizer must report, whose name is `expected`."""
