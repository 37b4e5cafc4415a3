"""An output that is cached and returned again.

Cached by address, identity, shape or a sample of the input, an output is correct until the contents change.  Cached
plans, descriptors, packed weights and buffers that a kernel refills are ordinary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.outputs import used_here
from engine.static.analysis.scopes import Function
from engine.static.analysis.tensors import Flow, same_values
from engine.static.analysis.vocabulary import weight_of
from engine.static.findings import hint

_KERNEL = (
    "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.load(x))\n"
    "def launch(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    return y\n"
)

STRICT = "Every call computes; no output is cached between calls."
CATCHES = (
    _KERNEL + "C = {}\ndef f(x):\n    key = x.data_ptr()\n    if key not in C:\n        C[key] = launch(x)\n"
    "    return C[key]\n",
    _KERNEL + "C = {}\ndef f(x):\n    if x.shape not in C:\n        y = torch.empty_like(x)\n        k[(1,)](x, y)\n"
    "        C[x.shape] = y\n    return C[x.shape].clone()\n",
    _KERNEL + "C = {}\ndef f(x):\n    y = C.get(id(x))\n    if y is None:\n        y = launch(x)\n"
    "        C[id(x)] = y\n    return y\n",
    _KERNEL
    + "LAST = None\ndef f(x):\n    global LAST\n    if LAST is None:\n        LAST = launch(x)\n    return LAST\n",
    _KERNEL
    + "class M:\n    def f(self, x):\n        if self.key != x.data_ptr():\n            self.key = x.data_ptr()\n"
    "            self.out = launch(x)\n        return self.out\n",
    _KERNEL + "import functools\n@functools.lru_cache(None)\ndef f(x):\n    return launch(x)\n",
    _KERNEL + "def f(x, memo={}):\n    try:\n        return memo[id(x)]\n    except KeyError:\n"
    "        memo[id(x)] = launch(x)\n"
    "        return memo[id(x)]\n",
    _KERNEL + "def f(x):\n    if getattr(f, 'key', None) == x._version:\n        return f.out\n    f.key = x._version\n"
    "    f.out = launch(x)\n    return f.out\n",
)
SPARES = (
    _KERNEL
    + "C = {}\ndef f(x):\n    if x.shape not in C:\n        C[x.shape] = torch.empty_like(x)\n    y = C[x.shape]\n"
    "    k[(1,)](x, y)\n    return y\n",
    _KERNEL + "C = {}\ndef plan(x):\n    if x.data_ptr() not in C:\n        C[x.data_ptr()] = (x.numel(), 64)\n"
    "    return C[x.data_ptr()]\n"
    "def f(x):\n    n, b = plan(x)\n    return launch(x)\n",
    _KERNEL + "C = {}\ndef f(x, w):\n    key = w.data_ptr()\n    if key not in C:\n        C[key] = launch(w)\n"
    "    y = torch.empty_like(x)\n    k[(1,)](C[key], y)\n    return y\n",
    _KERNEL + "import functools\n@functools.lru_cache(None)\ndef sms(device):\n    return 108\ndef f(x):\n"
    "    return launch(x)\n",
    _KERNEL
    + "C = {}\ndef workspace(n):\n    if n not in C:\n        C[n] = torch.empty(n)\n    return C[n]\ndef f(x):\n"
    "    t = workspace(4)\n    k[(1,)](x, t)\n    return launch(t)\n",
    _KERNEL + "class M:\n    def f(self, x):\n        self.out = torch.empty_like(x)\n"
    "        k[(1,)](x, self.out)\n        return self.out\n",
    _KERNEL + "G = {}\ndef f(x):\n    if x.shape not in G:\n        G[x.shape] = capture(x)\n"
    "    graph, static, out = G[x.shape]\n"
    "    static.copy_(x)\n    graph.replay()\n    return out\n",
    _KERNEL
    + "from triton.tools.tensor_descriptor import TensorDescriptor\nD = {}\ndef f(x):\n    if x.data_ptr() not in D:\n"
    "        D[x.data_ptr()] = TensorDescriptor.from_tensor(x, [64])\n    y = torch.empty_like(x)\n"
    "    k[(1,)](D[x.data_ptr()], y)\n    return y\n",
)
_KEEPERS = frozenset({"functools.lru_cache", "functools.cache", "functools.lru_cache()", "functools.cached_property"})


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every return of a value that an earlier call computed and that no kernel wrote in this one."""
    computing = reading.launches.launching
    helpers = used_here(reading, through_variables=True)
    for function in reading.host(ast.FunctionDef):
        if isinstance(reading.parent(function), ast.FunctionDef) or function.name in helpers:
            continue
        if function in computing and any(_keeps(reading, item) for item in function.decorator_list):
            yield hint("cached_outputs", function, f"{function.name} caches its outputs across calls")
            continue
        flow = reading.tensors.flow(function)
        kept = _kept(reading, flow, function, computing)
        for value in flow.returns if kept else ():
            slot = _slot_behind(reading, flow, value)
            if slot in kept and not _is_written_again(reading, flow, function, value, slot):
                yield hint("cached_outputs", value, f"returns a result of an earlier call, cached in {slot}")
                break


def _keeps(reading: Reading, decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return bool(reading.names.of(node) & _KEEPERS)


def _kept(reading: Reading, flow: Flow, function: Function, computing: set[Function]) -> set[str]:
    """The slots to which this function assigns an answer on some paths only: names that outlive the call."""
    found: set[str] = set()
    for node in flow.nodes:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
            targets, value = [node.func.value], node.args[1] if len(node.args) > 1 else None
        for target in targets:
            slot = _slot(reading, target)
            if (
                slot
                and value is not None
                and _is_conditional(reading, node, function)
                and (_is_computed(reading, flow, value, computing) or _is_filled_there(reading, function, node, target))
            ):
                found.add(slot)
    return found


def _slot(reading: Reading, node: ast.expr) -> str:
    """The name of an object that outlives the call: a global, a default argument, an attribute of an object."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return ast.unparse(node)
    if not isinstance(node, ast.Name):
        return ""
    if reading.is_persistent(node):
        return node.id
    holds = [binding.node for binding in reading.bindings(node) if binding.node is not None]
    return (
        node.id if any(isinstance(item, ast.Dict | ast.List) and _is_default(reading, item) for item in holds) else ""
    )


def _is_default(reading: Reading, node: ast.AST) -> bool:
    return isinstance(reading.parent(node), ast.arguments)


def _is_conditional(reading: Reading, node: ast.AST, function: Function) -> bool:
    """Whether this is not executed in every call: it is in a branch, a handler, or behind an early return."""
    for above in reading.ancestors(node):
        if above is function:
            break
        if isinstance(above, ast.If | ast.ExceptHandler | ast.IfExp):
            return True
    line = getattr(node, "lineno", 0)
    return any(value.lineno < line for value in reading.tensors.flow(function).returns)


def _is_computed(reading: Reading, flow: Flow, value: ast.expr, computing: set[Function], depth: int = 6) -> bool:
    """Whether the value is a result: of a function that launches, of PyTorch's operators, or of a launch."""
    if depth == 0:
        return False
    written = {
        group for _, items in reading.launches.writes(flow.function) for item in items for group in flow.groups(item)
    }
    names = set(same_values(value))
    if {flow.group(name) for name in names} & written:
        return True
    call = value
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and not reading.definitions(call.func):
        if any(weight_of(name) for name in reading.names.of(call.func)):
            return True
        call = call.func.value
    if isinstance(call, ast.Call) and any(item in computing for item in reading.definitions(call.func)):
        return True
    bound = [item for name in names for item in flow.values_of.get(name, ()) if item is not value]
    return any(_is_computed(reading, flow, item, computing, depth - 1) for item in bound)


def _is_filled_there(reading: Reading, function: Function, node: ast.AST, target: ast.expr) -> bool:
    """Whether a launch in the same block fills the slot, so that it contains an answer afterwards."""
    above, spelled = reading.parent(node), ast.unparse(target)
    return above is not function and any(
        any(ast.unparse(item) == spelled for item in items) and above in set(reading.ancestors(call))
        for call, items in reading.launches.writes(function)
    )


def _slot_behind(reading: Reading, flow: Flow, value: ast.expr) -> str:
    """The slot whose content an expression returns, directly or through a variable."""
    slot = _direct_slot(reading, value)
    if slot:
        return slot
    for name in same_values(value):
        for item in flow.values_of.get(name, ()):
            if found := _direct_slot(reading, item):
                return found
    return ""


def _direct_slot(reading: Reading, value: ast.expr) -> str:
    node = value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    if isinstance(node, ast.Subscript | ast.Attribute | ast.Name):
        return _slot(reading, node)
    return ""


def _is_written_again(reading: Reading, flow: Flow, function: Function, value: ast.expr, slot: str) -> bool:
    """Whether a launch outside of the branch that fills the slot writes to the returned tensor."""
    groups = flow.groups(value)
    for call, items in reading.launches.writes(function):
        mentioned = any(slot in ast.unparse(item) or flow.groups(item) & groups for item in items)
        if mentioned and not any(
            isinstance(above, ast.If | ast.ExceptHandler) and _asks_for(above, slot, groups)
            for above in reading.ancestors(call)
        ):
            return True
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in ("replay", "copy_")
        for part in flow.nodes
    )


def _asks_for(above: ast.If | ast.ExceptHandler, slot: str, groups: set[str]) -> bool:
    if isinstance(above, ast.ExceptHandler):
        return True
    test = ast.unparse(above.test)
    names = {part.id for part in ast.walk(above.test) if isinstance(part, ast.Name)}
    return slot in test or bool(names & groups) or "data_ptr" in test or "None" in test
