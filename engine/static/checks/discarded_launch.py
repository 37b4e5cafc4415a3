"""A kernel is launched and its output is never read.

A count of launches includes it, and the output comes from elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.launches import LaunchSite
from engine.static.analysis.tensors import Flow, same_values
from engine.static.analysis.words import words
from engine.static.findings import hint

_KERNEL = "@triton.jit\ndef k(x, y):\n    tl.store(y, tl.load(x))\n"
_METADATA = words("shape dtype device ndim stride numel size dim data_ptr element_size is_contiguous nbytes")

_SOON = 40  # statements: a result is replaced shortly after the launch

STRICT = "Every result of a kernel is used for the output."
CATCHES = (
    _KERNEL + "def f(x):\n    t = torch.empty_like(x)\n    k[(1,)](x, t)\n    return torch.relu(x)\n",
    _KERNEL + "def f(x):\n    k[(1,)](x, torch.empty_like(x))\n    return x.clone()\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    y = torch.relu(x)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    y.copy_(torch.relu(x))\n    return y\n",
    _KERNEL
    + "def f(x):\n    t = torch.empty_like(x)\n    u = torch.empty_like(x)\n    k[(1,)](x, t)\n    k[(1,)](t, u)\n"
    "    print(u.shape)\n    return x + 1\n",
    _KERNEL + "run = k[(1,)]\ndef f(x):\n    t = torch.empty_like(x)\n    run(x, t)\n    del t\n    return x + 1\n",
)
SPARES = (
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y)\n    return y.view(-1)\n",
    _KERNEL + "def f(x, out):\n    k[(1,)](x, out)\n",
    _KERNEL + "def f(x):\n    t = torch.empty_like(x)\n    y = torch.empty_like(x)\n    k[(1,)](x, t)\n"
    "    k[(1,)](t, y)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    v = y.view(-1)\n    k[(1,)](x, v)\n    return y\n",
    _KERNEL + "BUFFERS = {}\ndef f(x):\n    k[(1,)](x, BUFFERS[x.shape])\n    return BUFFERS[x.shape]\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    for _ in range(2):\n        k[(1,)](x, y)\n"
    "        x = y.clone()\n    return x\n",
    _KERNEL + "class M:\n    def f(self, x):\n        k[(1,)](x, self.out)\n        return self.out\n",
    "def f(x, kernel):\n    y = torch.empty_like(x)\n    kernel[(1,)](x, y)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    a, b = (torch.view_as_real(t) for t in (x, y))\n"
    "    k[(1,)](a, b)\n    return y\n",
    _KERNEL + "def bits(t):\n    return t.view(torch.int8)\ndef f(x):\n    y = torch.empty_like(x)\n"
    "    k[(1,)](bits(x), bits(y))\n    return y\n",
    _KERNEL + "def bits(t):\n    return t.view(torch.int8)\ndef f(x):\n    y = torch.empty_like(x)\n"
    "    a, b = bits(x), bits(y)\n    k[(1,)](a, b)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    real = torch.view_as_real if x.ndim else torch.detach\n"
    "    k[(1,)](real(x), real(y))\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    d = TensorDescriptor.from_tensor(y, [64])\n"
    "    k[(1,)](x, d)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    d = TensorDescriptor(y, y.shape, y.stride(), [64])\n"
    "    k[(1,)](x, d)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    for a, b in zip(x.unbind(0), y.unbind(0)):\n"
    "        k[(1,)](a, b)\n    return y\n",
    _KERNEL + "def f(x):\n    y = torch.empty_like(x)\n    g = dict(x=x, y=y)\n    k[(1,)](**g)\n    return y\n",
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint for every launch whose results are all unread or overwritten."""
    for function, sites in reading.launches.by_function.items():
        if function is None:
            continue
        flow = reading.tensors.flow(function)
        discarded = {site.call for site in sites if _is_overwritten(reading, flow, site)}
        while True:
            left = [site for site in sites if site.call not in discarded]
            more = {site.call for site in left if _is_unread(reading, flow, site, discarded)}
            if not more:
                break
            discarded |= more
        for site in sites:
            if site.call in discarded:
                yield hint("discarded_launch", site.call, "output of this launch is never read")


def _is_unread(reading: Reading, flow: Flow, site: LaunchSite, discarded: set[ast.Call]) -> bool:
    if not site.kernels or not site.written:
        return False
    groups: set[str] = set()
    for argument in site.written:
        names = set(same_values(argument))
        if not names and not isinstance(argument, ast.Call):
            return False
        if any(not _is_local(flow, name) for name in names) or _is_held_elsewhere(argument):
            return False
        if _is_made_by_helper(reading, flow, argument):
            return False
        groups |= {flow.group(name) for name in names}
    if any(_is_handed_in(flow, group) for group in groups):
        return False
    return all(_says_nothing(reading, use, site.call, discarded) for use in flow.uses(groups))


def _is_made_by_helper(reading: Reading, flow: Flow, argument: ast.expr) -> bool:
    """Whether a function of the file made it, or a variable with the same values: it may be a view of another.

    The same holds for the result of a function that is chosen at run time.
    """
    groups = {flow.group(name) for name in same_values(argument)}
    members = (name for group in groups for name in flow.members.get(group, ()))
    values = [argument, *(value for name in members for value in flow.values_of[name])]
    called = [part.func for value in values for part in ast.walk(value) if isinstance(part, ast.Call)]
    is_chosen = any(isinstance(function, ast.Name) and _is_local(flow, function.id) for function in called)
    return is_chosen or any(reading.definitions(function) for function in called)


def _is_held_elsewhere(argument: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute | ast.Subscript) for part in ast.walk(argument)) and not isinstance(
        argument, ast.Call
    )


def _is_local(flow: Flow, name: str) -> bool:
    return name in flow.parameters or name in flow.values_of


def _is_handed_in(flow: Flow, group: str) -> bool:
    """Whether a variable of the group is a parameter, or part of an object that outlives the call."""
    if any(flow.group(name) == group for name in flow.parameters):
        return True
    values = (value for name in flow.members.get(group, ()) for value in flow.values_of[name])
    return any(not _is_local(flow, name) for value in values for name in same_values(value))


def _says_nothing(reading: Reading, use: ast.Name, launch: ast.Call, discarded: set[ast.Call]) -> bool:
    above = reading.parent(use)
    if isinstance(above, ast.Attribute) and above.attr in _METADATA:
        return True
    if isinstance(above, ast.Delete):
        return True
    return any(part is launch or part in discarded for part in reading.ancestors(use))


def _is_overwritten(reading: Reading, flow: Flow, site: LaunchSite) -> bool:
    """Whether the next use of each result is an assignment that replaces it."""
    statement = reading.statement(site.call)
    block = _block_of(reading, statement)
    if not site.kernels or not site.written or statement is None:
        return False
    place = block.index(statement) + 1 if statement in block else len(block)
    later = block[place : place + _SOON]
    for argument in site.written:
        names = set(same_values(argument))
        touched = next((after for after in later if _touches(after, names)), None)
        if len(names) != 1 or touched is None or not _replaces(touched, names):
            return False
        if set(flow.members.get(flow.group(next(iter(names))), ())) - names:
            return False
    return True


def _block_of(reading: Reading, statement: ast.stmt | None) -> list[ast.stmt]:
    above = reading.parent(statement) if statement is not None else None
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def _touches(statement: ast.stmt, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(statement))


def _replaces(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        whole = isinstance(target, ast.Subscript) and ast.unparse(target.slice) in (":", "...", "Ellipsis")
        held = target.value if whole and isinstance(target, ast.Subscript) else target
        return isinstance(held, ast.Name) and held.id in names and not _reads(value, names)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        replaces = isinstance(call.func, ast.Attribute) and call.func.attr in ("copy_", "fill_", "zero_", "set_")
        return replaces and not any(_reads(item, names) for item in call.args)
    return False


def _reads(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
