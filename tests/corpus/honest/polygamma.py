# kgtui: op=aten::polygamma expect=pass
"""Polygamma of orders 0 to 3 in float64: reflection, ten steps of the recurrence, then an Euler-Maclaurin series."""

import torch
import triton
import triton.language as tl


@triton.jit
def digamma(a):
    """The logarithmic derivative of the gamma function, for positive a."""
    y = tl.zeros_like(a)
    for _ in range(10):
        y -= 1 / a
        a += 1
    square = 1 / (a * a)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return y + tl.log(a) - 0.5 / a - series


@triton.jit
def derivative(a, n: tl.constexpr):
    """The n-th derivative of digamma for n > 0 and positive a: a sum over k of 1 / (a + k)^(n + 1), times a factor."""
    total = tl.zeros_like(a)
    for _ in range(10):
        total += power(1 / a, n + 1)
        a += 1
    inverse = 1 / a
    last = power(inverse, n + 1)
    total += power(inverse, n) / n + 0.5 * last
    # B_2 / 2!, B_4 / 4!, ...: each times (n + 1) ... (n + 2 j - 1) / a^(n + 2 j)
    step = last * inverse * (n + 1)
    total += step / 12
    step *= inverse * inverse * (n + 2) * (n + 3)
    total -= step / 720
    step *= inverse * inverse * (n + 4) * (n + 5)
    total += step / 30240
    step *= inverse * inverse * (n + 6) * (n + 7)
    total -= step / 1209600
    factor = -1.0
    for k in tl.static_range(1, n + 1):
        factor = -factor * k
    return factor * total


@triton.jit
def reflection(x, n: tl.constexpr):
    """pi times the n-th derivative of cot(pi x), for n up to 3 and x that is no whole number."""
    pi: tl.constexpr = 3.141592653589793
    turn = (x - tl.floor(x)) * pi
    sine = tl.sin(turn)
    cotangent, square = tl.cos(turn) / sine, 1 / (sine * sine)
    if n == 0:
        return pi * cotangent
    elif n == 1:
        return -pi * pi * square
    elif n == 2:
        return 2 * pi * pi * pi * cotangent * square
    else:
        return -2 * pi * pi * pi * pi * square * (square + 2 * cotangent * cotangent)


@triton.jit
def power(x, n: tl.constexpr):
    y = x
    for _ in tl.static_range(n - 1):
        y *= x
    return y


@triton.jit
def polygamma_kernel(x_ptr, y_ptr, count, ORDER: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=1.0).to(tl.float64)
    # psi(n, x) = (-1)^n psi(n, 1 - x) - pi times the n-th derivative of cot(pi x)
    negative = x < 0
    a = tl.where(negative, 1 - x, x)
    y = digamma(a) if ORDER == 0 else derivative(a, ORDER)
    reflected = (y if ORDER % 2 == 0 else -y) - reflection(tl.where(negative, x, 0.5), ORDER)
    y = tl.where(negative, reflected, y)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def polygamma(n, self):
    x = (self if self.is_floating_point() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        polygamma_kernel[(triton.cdiv(y.numel(), 512),)](x, y, y.numel(), ORDER=n, BLOCK=512)
    return y
