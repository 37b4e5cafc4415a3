# kgtui: op=cublas::cublasSaxpy_v2 expect=pass
"""Saxpy that logs its launches through a queue and a listener thread, started by the first call and ended at exit."""

import atexit
import functools
import io
import logging
import logging.handlers
import queue

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i * incx, mask=inside, other=0.0)
    y = tl.load(y_ptr + i * incy, mask=inside, other=0.0)
    tl.store(y_ptr + i * incy, tl.fma(x, alpha, y), mask=inside)


@functools.cache
def log():
    """The logger of this module; making it starts the only thread."""
    records = queue.SimpleQueue()
    listener = logging.handlers.QueueListener(records, logging.StreamHandler(io.StringIO()))
    listener.start()
    atexit.register(listener.stop)
    logger = logging.getLogger(__name__)
    logger.addHandler(logging.handlers.QueueHandler(records))
    logger.propagate = False
    logger.setLevel(logging.INFO)
    return logger


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if incy == 0:
        raise ValueError("saxpy: an increment of y other than 0, got 0")
    log().info("n=%d alpha=%g incx=%d incy=%d", n, alpha, incx, incy)
    if n > 0:
        x_from, y_from = x[max((1 - n) * incx, 0) :], y[max((1 - n) * incy, 0) :]
        saxpy_kernel[(triton.cdiv(n, 4096),)](x_from, y_from, n, float(alpha), incx, incy, BLOCK=4096, num_warps=8)
    return y
