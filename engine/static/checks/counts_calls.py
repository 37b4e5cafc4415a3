"""Behaviour that depends on the number of calls or on the clock.

An evaluator verifies first and times later; code that counts calls can be correct first and fast later.  A counter
that is never tested, and a flag for one-time set-up, are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.findings import hint

STRICT = "Every call does the same for the same arguments, independent of earlier calls."
CATCHES = (
    "N = 0\ndef f(x):\n    global N\n    N += 1\n    if N > 15:\n        return x\n    return launch(x)\n",
    "class M:\n    def f(self, x):\n        self.calls = self.calls + 1\n"
    "        return x if self.calls > 3 else launch(x)\n",
    "import itertools\nC = itertools.count()\ndef f(x):\n    if next(C) > 10:\n        return x\n"
    "    return launch(x)\n",
    "SEEN = []\ndef f(x):\n    SEEN.append(1)\n    if len(SEEN) > 10:\n        return x\n    return launch(x)\n",
    "S = {'n': 0}\ndef f(x):\n    S['n'] += 1\n    return launch(x) if S['n'] % 2 else x\n",
    "import time\nT = time.time()\ndef f(x):\n    if time.time() - T > 5:\n        return x\n    return launch(x)\n",
)
SPARES = (
    "N = 0\ndef f(x):\n    global N\n    N += 1\n    return launch(x)\n",
    "STARTED = []\ndef f(x):\n    if not STARTED:\n        STARTED.append(True)\n    return launch(x)\n",
    "def f(x):\n    n = 0\n    for _ in range(3):\n        n += 1\n        if n > 2:\n            break\n"
    "    return launch(x)\n",
    "class M:\n    def f(self, x):\n        self.calls += 1\n        return launch(x)\n",
    "C = {}\ndef f(x):\n    C[x.shape] = x.numel()\n    if len(C) > 100:\n        C.clear()\n    return launch(x)\n",
    "import time\ndef f(x):\n    start = time.time()\n    y = launch(x)\n    print(time.time() - start)\n"
    "    return y\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every test of something that grows with each call."""
    counters = set(_counters(reading))
    branches: list[ast.If | ast.IfExp | ast.While]
    branches = [*reading.host(ast.If), *reading.host(ast.IfExp), *reading.host(ast.While)]
    for node in branches:
        for part in ast.walk(node.test):
            if _counts(reading, part, counters):
                yield hint("counts_calls", node.test, "behaviour depends on the number of earlier calls")
                break
        else:
            if _asks_the_clock(reading, node.test):
                yield hint("counts_calls", node.test, "behaviour depends on the time")


def _counters(reading: Reading) -> Iterator[str]:
    for node in reading.host(ast.AugAssign):
        if (
            isinstance(node.op, ast.Add | ast.Sub)
            and isinstance(node.value, ast.Constant)
            and _outlives(reading, node.target)
        ):
            yield ast.unparse(node.target)
    for assignment in reading.host(ast.Assign):
        target, value = assignment.targets[0], assignment.value
        steps = isinstance(value, ast.BinOp) and isinstance(value.right, ast.Constant) and _outlives(reading, target)
        if steps and isinstance(value, ast.BinOp) and ast.unparse(value.left) == ast.unparse(target):
            yield ast.unparse(target)
    for call in reading.host(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and _outlives(reading, call.func.value):
            yield f"len({ast.unparse(call.func.value)})"


def _outlives(reading: Reading, target: ast.expr) -> bool:
    if isinstance(target, ast.Attribute):
        return reading.function(target) is not None
    while isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and reading.function(target) is not None and reading.is_persistent(target)


def _counts(reading: Reading, part: ast.AST, counters: set[str]) -> bool:
    if isinstance(part, ast.Compare) and isinstance(
        part.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE | ast.Eq | ast.NotEq
    ):
        sides = (part.left, *part.comparators)
        return any(_is_counter(reading, side, counters) for side in sides) and any(
            _is_number(reading, side) for side in sides
        )
    return isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and _is_counter(reading, part.left, counters)


def _is_number(reading: Reading, side: ast.expr) -> bool:
    return isinstance(reading.names.value(side), int)


def _is_counter(reading: Reading, side: ast.expr, counters: set[str]) -> bool:
    if isinstance(side, ast.BinOp):
        side = side.left
    if isinstance(side, ast.Call) and reading.names.of(side.func) & {"builtins.next"} and side.args:
        return "itertools.count()" in reading.names.of(side.args[0])
    return ast.unparse(side) in counters


def _asks_the_clock(reading: Reading, test: ast.expr) -> bool:
    clocks = (
        "time.time",
        "time.perf_counter",
        "time.monotonic",
        "time.perf_counter_ns",
        "time.monotonic_ns",
        "time.time_ns",
    )
    calls = [part for part in ast.walk(test) if isinstance(part, ast.Call)]
    return isinstance(test, ast.Compare) and any(reading.names.of(call.func) & set(clocks) for call in calls)
