# kgtui: op=aten::add expect=pass
"""Addition in the file that also has its tests against torch, and a perf_report at module level."""

import torch
import triton
import triton.language as tl

try:
    import pytest
except ImportError:
    pytest = None


@triton.jit(debug=False, noinline=False)
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements: "int", alpha, BLOCK_SIZE: tl.constexpr = 1024):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.assume(n_elements > 0)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, (x + y * alpha).to(output_ptr.type.element_ty), mask=mask)


def add(self, other, alpha=1):
    other = torch.as_tensor(other, device=self.device)
    dtype = torch.result_type(self, other)
    x, y = torch.broadcast_tensors(self, other)
    output = torch.empty(x.shape, dtype=dtype, device=x.device)
    n = output.numel()
    if n == 0:
        return output
    add_kernel[(triton.cdiv(n, 1024),)](
        x_ptr=x.contiguous(), y_ptr=y.contiguous(), output_ptr=output, n_elements=n, alpha=alpha,
    )
    return output


if pytest is not None:

    @pytest.mark.parametrize("n", [1, 98432])
    def test_add(n):
        x, y = torch.rand(n), torch.rand(n)
        expected = torch.add(x, y)
        print(f"The maximum difference is {torch.max(torch.abs(expected - add(x, y)))}")
        assert torch.equal(add(x, y), x + y)


configs = []
for mode in ["fwd"]:
    configs.append(
        triton.testing.Benchmark(
            x_names=["size"], x_vals=[2**i for i in range(12, 20)], line_arg="provider",
            line_vals=["triton", "torch"], line_names=["Triton", "Torch"], plot_name=f"add-{mode}", args={"mode": mode},
        )
    )


@triton.testing.perf_report(configs)
def benchmark(size, provider, mode):
    x = torch.rand(size, device="cuda")
    fn = (lambda: torch.add(x, x)) if provider == "torch" else (lambda: add(x, x))
    return triton.testing.do_bench(fn)
