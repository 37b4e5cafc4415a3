# kgtui: op=cublas::cublasDsyr2_v2 expect=wrong_value diagnosis=old_content case="33 L inc 2 -3 alpha -0.75 padding 3"
"""Rank-two update that writes both triangles, of which one must stay as it is."""

import triton
import triton.language as tl


@triton.jit
def syr2_kernel(
    x_ptr, y_ptr, a_ptr, n, alpha: tl.float64, x_first, y_first, incx, incy, lda,
    LOWER: tl.constexpr, BLOCK: tl.constexpr,
):
    first_row = tl.program_id(0).to(tl.int64) * BLOCK
    first_col = tl.program_id(1).to(tl.int64) * BLOCK
    if n > 0:
        row = first_row + tl.arange(0, BLOCK)[None, :]
        col = first_col + tl.arange(0, BLOCK)[:, None]
        x_row = tl.load(x_ptr + x_first + row * incx, mask=row < n, other=0.0)
        y_row = tl.load(y_ptr + y_first + row * incy, mask=row < n, other=0.0)
        x_col = tl.load(x_ptr + x_first + col * incx, mask=col < n, other=0.0)
        y_col = tl.load(y_ptr + y_first + col * incy, mask=col < n, other=0.0)
        inside = (row < n) & (col < n)
        at = a_ptr + col * lda + row
        a = tl.load(at, mask=inside, other=0.0)
        tl.store(at, a + alpha * x_row * y_col + alpha * y_row * x_col, mask=inside)


def cublasDsyr2_v2(uplo, n, alpha, x, incx, y, incy, A, lda):
    if n == 0 or alpha == 0:
        return A
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    tiles = triton.cdiv(n, 32)
    syr2_kernel[(tiles, tiles)](
        x, y, A, n, alpha, x_first, y_first, incx, incy, lda, LOWER=uplo == "L", BLOCK=32
    )
    return A
