"""Operations of Triton's language by the machine and by a GPU, dtype by dtype: equal bits, or units in the last place.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.operations [--device cuda] [--jobs 8] [--match NAME]

A row is an operation on values that include zeros of both signs, infinities, NaN, subnormals and the largest finite
value.  NaN equals NaN whatever its payload.  With `--device cpu` both columns are the machine, which shows that the
kernels compile.  Rows that differ are printed, with two elements; the last lines count them by group.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from engine.judge.compare.measures import INTEGER_OF, ordered, ulps
from tests.engine.machine.launching import launching

ELEMENTS = 1024
F64, F32, F16, BF16 = "float64", "float32", "float16", "bfloat16"
E4M3, E5M2 = "float8_e4m3fn", "float8_e5m2"
I64, I32, I16, I8 = "int64", "int32", "int16", "int8"
U8 = "uint8"
FLOATS, WIDE, INTEGERS = (F64, F32, F16, BF16), (F64, F32), (I64, I32, I16, I8)
BLOCKS = ("reductions", "scans", "shapes", "dot")
TRITON = {E4M3: "float8e4nv", E5M2: "float8e5"}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An expression of blocks `a`, `b` and `c` of one dtype; `out` is the dtype of the result, theirs by default.

    `domain` restricts the values: "shift" to 0 up to the width, "divisor" leaves 0 and -1 out of `b`, "few" has values
    whose sums are exact in any order, and "finite" none that an integer cannot hold.
    """

    group: str
    name: str
    text: str
    dtypes: tuple[str, ...]
    out: str = ""
    domain: str = ""


ELEMENTWISE = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    c = tl.load(c_ptr + at)
    tl.store(out_ptr + at, {text})
"""

SQUARE = """\
import triton
import triton.language as tl


@triton.jit
def larger(x, y):
    return tl.where(x > y, x, y)


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, 32), tl.arange(0, 32)
    at = rows[:, None] * 32 + columns[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    tl.store(out_ptr + at, ({text}) + tl.zeros((32, 32), {zero}))
"""

ATOMIC = """\
import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(a_ptr + at)
    tl.store(out_ptr + at, tl.load(b_ptr + at))
    tl.debug_barrier()
    {text}(out_ptr + at // 4, a)
"""


def operations() -> Iterator[Operation]:
    """Every row of the table."""
    yield from _arithmetic()
    yield from _functions()
    yield from _casts()
    yield from _blocks()


def _arithmetic() -> Iterator[Operation]:
    for name, sign in {"add": "+", "sub": "-", "mul": "*"}.items():
        yield Operation(group="arithmetic", name=name, text=f"a {sign} b", dtypes=(*FLOATS, *INTEGERS))
    yield Operation(group="arithmetic", name="truediv", text="a / b", dtypes=FLOATS)
    for name, sign in {"floordiv": "//", "mod": "%"}.items():
        yield Operation(group="arithmetic", name=name, text=f"a {sign} b", dtypes=INTEGERS, domain="divisor")
    yield Operation(group="arithmetic", name="fmod", text="a % b", dtypes=(F32,), domain="divisor")
    yield Operation(group="arithmetic", name="div_rn", text="tl.div_rn(a, b)", dtypes=(F32,))
    yield Operation(group="arithmetic", name="fma", text="tl.fma(a, b, c)", dtypes=WIDE)
    yield Operation(group="arithmetic", name="umulhi", text="tl.umulhi(a, b)", dtypes=(I32, I64))
    for name, sign in {"and": "&", "or": "|", "xor": "^"}.items():
        yield Operation(group="bits", name=name, text=f"a {sign} b", dtypes=INTEGERS)
    for name, sign in {"shift left": "<<", "shift right": ">>"}.items():
        yield Operation(group="bits", name=name, text=f"a {sign} b", dtypes=INTEGERS, domain="shift")
    yield Operation(group="bits", name="invert", text="~a", dtypes=INTEGERS)
    for name, sign in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
        yield Operation(group="comparisons", name=name, text=f"a {sign} b", dtypes=(*FLOATS, *INTEGERS), out=I8)
    for name in ("minimum", "maximum"):
        yield Operation(group="comparisons", name=name, text=f"tl.{name}(a, b)", dtypes=(*FLOATS, *INTEGERS))
        text = f"tl.{name}(a, b, propagate_nan=tl.PropagateNan.ALL)"
        yield Operation(group="comparisons", name=f"{name} with NaN", text=text, dtypes=(F32, F16, BF16))
    text = "tl.clamp(a, -1.0, 1.0)"
    yield Operation(group="comparisons", name="clamp", text=text, dtypes=(F32,))
    yield Operation(group="comparisons", name="where", text="tl.where(a < b, a, c)", dtypes=(*FLOATS, *INTEGERS))


def _functions() -> Iterator[Operation]:
    for name in ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf"):
        yield Operation(group="functions", name=name, text=f"tl.{name}(a)", dtypes=WIDE)
    for name in ("floor", "ceil", "abs"):
        yield Operation(group="functions", name=name, text=f"tl.{name}(a)", dtypes=WIDE)
    yield Operation(group="functions", name="abs", text="tl.abs(a)", dtypes=(F16, BF16, *INTEGERS))
    yield Operation(group="functions", name="sqrt_rn", text="tl.sqrt_rn(a)", dtypes=(F32,))
    yield Operation(group="functions", name="sigmoid", text="tl.sigmoid(a)", dtypes=(F32,))
    for name in (
        "tanh", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "cbrt", "expm1", "log1p",
        "log10", "exp10", "erfc", "round", "rint", "trunc", "lgamma",
    ):  # fmt: skip
        yield Operation(group="libdevice", name=name, text=f"libdevice.{name}(a)", dtypes=WIDE)
    for name in ("pow", "atan2", "copysign", "fmod", "hypot"):
        yield Operation(group="libdevice", name=name, text=f"libdevice.{name}(a, b)", dtypes=WIDE)
    for name in ("isnan", "isinf", "signbit"):
        yield Operation(group="libdevice", name=name, text=f"libdevice.{name}(a)", dtypes=(F32,), out=I32)


def _casts() -> Iterator[Operation]:
    for source in (*FLOATS, *INTEGERS, U8):
        for target in (*FLOATS, *INTEGERS):
            if source != target:
                text = f"a.to(tl.{target})"
                finite = "finite" if source in FLOATS and target in INTEGERS else ""
                yield Operation(
                    group="casts", name=f"to {target}", text=text, dtypes=(source,), out=target, domain=finite
                )
    for small in (E4M3, E5M2):
        for wide in (F32, F16, BF16):
            yield Operation(
                group="casts", name=f"to {small}", text=f"a.to(tl.{TRITON[small]})", dtypes=(wide,), out=small
            )
            yield Operation(group="casts", name=f"to {wide}", text=f"a.to(tl.{wide})", dtypes=(small,), out=wide)
    yield Operation(group="casts", name="bitcast", text="a.to(tl.int32, bitcast=True)", dtypes=(F32,), out=I32)
    text = 'a.to(tl.bfloat16, fp_downcast_rounding="rtz")'
    yield Operation(group="casts", name="to bfloat16 toward zero", text=text, dtypes=(F32,), out=BF16)


def _blocks() -> Iterator[Operation]:
    for name in ("sum", "max", "min"):
        for axis in (0, 1):
            text = f"tl.expand_dims(tl.{name}(a, axis={axis}), {axis})"
            yield Operation(group="reductions", name=f"{name} {axis}", text=text, dtypes=(F32, F16, I32), domain="few")
    for name in ("argmax", "argmin"):
        text = f"tl.expand_dims(tl.{name}(a, axis=1), 1)"
        yield Operation(group="reductions", name=name, text=text, dtypes=(F32, I32), out=I32, domain="few")
    text = "tl.expand_dims(tl.xor_sum(a, axis=1), 1)"
    yield Operation(group="reductions", name="xor_sum", text=text, dtypes=(I32,))
    text = "tl.expand_dims(tl.reduce(a, 1, larger), 1)"
    yield Operation(group="reductions", name="reduce", text=text, dtypes=(F32, I32), domain="few")
    for name in ("cumsum", "cumprod"):
        text = f"tl.{name}(a, axis=1)"
        yield Operation(group="scans", name=name, text=text, dtypes=(F32, I32), domain="few")
    text = "tl.associative_scan(a, 0, larger, reverse=True)"
    yield Operation(group="scans", name="associative_scan", text=text, dtypes=(F32, I32), domain="few")
    for name, text in {
        "sort": "tl.sort(a)", "flip": "tl.flip(a, 1)", "trans": "tl.trans(a)", "gather": "tl.gather(a, b & 31, 1)",
        "reshape": "tl.reshape(tl.reshape(a, (1024,)), (32, 32))",
        "join and split": "tl.reshape(tl.join(a, b).split()[1], (32, 32))",
    }.items():  # fmt: skip
        dtypes = (I32,) if name == "gather" else (F32, I32)
        yield Operation(group="shapes", name=name, text=text, dtypes=dtypes, domain="few")
    for name, options in {"ieee": ', input_precision="ieee"', "tf32": ', input_precision="tf32"'}.items():
        yield Operation(group="dot", name=name, text=f"tl.dot(a, b{options})", dtypes=(F32,), domain="few")
    yield Operation(group="dot", name="dot", text="tl.dot(a, b)", dtypes=(F16, BF16), out=F32, domain="few")
    yield Operation(group="dot", name="dot", text="tl.dot(a, b)", dtypes=(I8,), out=I32, domain="few")
    for name in ("add", "max", "min", "and", "or", "xor"):
        yield Operation(group="atomics", name=name, text=f"tl.atomic_{name}", dtypes=(I32,), domain="few")
    yield Operation(group="atomics", name="add", text="tl.atomic_add", dtypes=(F32,), domain="few")


def values(dtype_name: str, domain: str, *, seed: int) -> torch.Tensor:
    """(1024,) elements of the dtype: special ones, then random ones of many magnitudes; the seed shuffles them."""
    rng = torch.Generator().manual_seed(seed)
    dtype = getattr(torch, dtype_name)
    if domain == "few":
        few = torch.randint(-8, 9, (ELEMENTS,), generator=rng)
        return few.to(dtype)
    if domain == "shift":
        return torch.randint(0, torch.iinfo(dtype).bits, (ELEMENTS,), generator=rng).to(dtype)
    if not dtype.is_floating_point:
        return _integers(dtype, rng, nonzero=domain == "divisor")
    if dtype.itemsize == 1:
        return torch.arange(ELEMENTS).remainder(256).to(torch.uint8).view(dtype)
    bits = torch.finfo(dtype)
    if domain == "finite":
        return (torch.randn(ELEMENTS, generator=rng, dtype=torch.float64) * 50).to(dtype)
    special = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), bits.tiny, bits.tiny / 2, bits.max]
    scales = torch.logspace(-3, 2, ELEMENTS, dtype=torch.float64)
    numbers = torch.randn(ELEMENTS, generator=rng, dtype=torch.float64) * scales
    if domain == "divisor":
        return torch.where(numbers.abs() < 1e-2, 1.0, numbers).to(dtype)
    numbers[: 4 * len(special)] = torch.tensor(special * 4, dtype=torch.float64)
    return numbers.to(dtype)[torch.randperm(ELEMENTS, generator=rng)]


def _integers(dtype: torch.dtype, rng: torch.Generator, *, nonzero: bool) -> torch.Tensor:
    bounds = torch.iinfo(dtype)
    numbers = torch.randint(max(bounds.min, -(2**62)), min(bounds.max, 2**62), (ELEMENTS,), generator=rng)
    edges = torch.tensor([0, 1, -1, 2, -2, 7, bounds.max, bounds.min]).clamp(bounds.min, bounds.max)
    numbers[: 4 * len(edges)] = edges.repeat(4)
    numbers = numbers[torch.randperm(ELEMENTS, generator=rng)].to(dtype)
    return torch.where((numbers == 0) | (numbers == -1), 3, numbers) if nonzero else numbers


@dataclass(frozen=True, kw_only=True)
class Row:
    """One operation on one dtype: elements that are equal to the bit, and the largest distance of the others."""

    group: str
    name: str
    dtype: str
    equal: int = 0
    ulps: float = 0.0
    example: str = ""
    trouble: str = ""

    @property
    def kind(self) -> str:
        """Where the row is counted."""
        if self.trouble:
            return "refused"
        if self.equal == ELEMENTS:
            return "equal"
        return "within 2 ulps" if self.ulps <= 2 else "apart"

    @property
    def text(self) -> str:
        """The row as it is printed."""
        head = f"{self.group:12} {self.name:24} {self.dtype:14}"
        return f"{head} {self.trouble}" if self.trouble else f"{head} {self.equal:5} {self.ulps:10.3g}  {self.example}"


def row_of(operation: Operation, dtype: str, kernel: Any, device: str) -> Row:
    """Run the kernel by the machine and on the device, and compare."""
    made = [values(dtype, operation.domain, seed=seed) for seed in (1, 2, 3)]
    if operation.domain == "shift":
        made[0] = values(dtype, "", seed=1)
    out = torch.zeros(ELEMENTS, dtype=getattr(torch, operation.out or dtype))
    try:
        with launching():
            kernel[(1,)](*made, out, N=ELEMENTS)
        machine, device_out = out.clone(), torch.zeros_like(out).to(device)
        if device == "cpu":
            device_out = machine
        else:
            from triton.backends.nvidia.driver import CudaDriver
            from triton.runtime import driver

            driver.set_active(CudaDriver())
            kernel[(1,)](*(tensor.to(device) for tensor in made), device_out, N=ELEMENTS)
    except Exception as error:  # an operation that one side refuses is a row
        words = f"{type(error).__name__}: {error}".replace("\n", " ")
        return Row(group=operation.group, name=operation.name, dtype=dtype, trouble=words[-160:])
    equal, distance, example = compared(machine, device_out.cpu(), made)
    return Row(group=operation.group, name=operation.name, dtype=dtype, equal=equal, ulps=distance, example=example)


def compared(machine: torch.Tensor, device: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[int, float, str]:
    """Elements equal to the bit, the largest distance of the others, and one of them in words."""
    if machine.dtype.is_floating_point:
        here, there = ordered(machine), ordered(device)
        integer = INTEGER_OF[machine.dtype]
        nan = machine.to(torch.float64).isnan() & device.to(torch.float64).isnan()
        same = (machine.view(integer) == device.view(integer)) | nan
        distances = torch.where(same, 0.0, ulps(here, there))
    else:
        same = machine == device
        distances = (~same).double()
    if bool(same.all()):
        return ELEMENTS, 0.0, ""
    worst = int(torch.where(same, -1.0, distances).argmax())
    arguments = ", ".join(f"{tensor[worst].item()!r}" for tensor in inputs)
    example = f"machine {machine[worst].item()!r}, device {device[worst].item()!r} of ({arguments})"
    return int(same.sum()), float(distances.max()), example


def kernel_of(operation: Operation, dtype: str, folder: Path, number: int) -> Any:
    """The kernel of one row, in a module of its own, since Triton reads the source of a kernel from its file."""
    stored = operation.out or dtype
    template = ATOMIC if operation.group == "atomics" else SQUARE if operation.group in BLOCKS else ELEMENTWISE
    path = folder / f"operation_{number}.py"
    path.write_text(template.format(text=operation.text, zero=f"tl.{TRITON.get(stored, stored)}"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def rows(match: str, device: str, part: int, parts: int) -> Iterator[Row]:
    """The rows of one of the processes."""
    table = [(operation, dtype) for operation in operations() if match in operation.name for dtype in operation.dtypes]
    with tempfile.TemporaryDirectory() as folder:
        for number, (operation, dtype) in list(enumerate(table))[part::parts]:
            yield row_of(operation, dtype, kernel_of(operation, dtype, Path(folder), number), device)


def main() -> None:
    """Run all rows in `--jobs` processes, print those that differ, and count them by group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--match", default="")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        for row in rows(options.match, options.device, options.part, options.jobs):
            print(json.dumps(asdict(row)), flush=True)
        return
    command = [sys.executable, *sys.argv]
    processes = [
        subprocess.Popen([*command, f"--part={part}"], stdout=subprocess.PIPE, text=True)
        for part in range(options.jobs)
    ]
    done = [Row(**json.loads(line)) for process in processes for line in process.communicate()[0].splitlines()]
    for row in sorted(done, key=lambda row: (row.group, row.name, row.dtype)):
        if row.trouble or row.equal < ELEMENTS:
            print(row.text)
    for group in dict.fromkeys(operation.group for operation in operations()):
        counted = Counter(row.kind for row in done if row.group == group)
        print(f"{group:12} {dict(counted)}")


if __name__ == "__main__":
    main()
