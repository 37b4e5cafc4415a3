"""What a compiled kernel takes up, as the panes print it."""

from __future__ import annotations

from engine.model import CompiledKernel, Launch, Outcome
from kgtui.state.run.resources import kernel_lines


def test_kernel_of_extension_has_no_warps_or_stages() -> None:
    launch = Launch(
        kernel="axpy", signature={}, constants={}, divisible_by_16=(), num_warps=0, num_stages=0, grid=(), line=3
    )
    kernel = CompiledKernel(
        launch=launch, target="sm_90", outcome=Outcome.PASS, elapsed_s=1.0, registers=10, spill_bytes=0, shared_bytes=0
    )
    first, second = kernel_lines(launch, kernel)
    assert "".join(span.text for span in first) == "axpy  CUDA extension, sm_90"
    assert "".join(span.text for span in second) == "10 registers, no spills, 0 B shared, occupancy unknown"
