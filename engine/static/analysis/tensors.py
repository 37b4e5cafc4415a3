"""Which expressions are tensors, where they come from, and which of them become the answer.

`Flow` analyses one function at a time and ignores the order of statements: its results are possibilities, so that a
check that excludes ordinary code by them excludes too much rather than too little.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import IntEnum
from functools import cached_property

from engine.static.analysis.code_index import CodeIndex
from engine.static.analysis.scopes import Function, Kind, parameters_of
from engine.static.analysis.vocabulary import (
    ALLOCATING,
    COMPUTING_METHODS,
    COPYING,
    DESCRIBING,
    PLAIN,
    VIEWING,
    weight_of,
)
from engine.static.analysis.words import words

_TENSOR_ATTRIBUTES = words(
    "shape dtype device ndim stride numel contiguous data_ptr is_cuda element_size new_empty new_zeros view reshape "
    "movedim transpose permute unsqueeze is_contiguous size dim is_floating_point expand storage_offset requires_grad"
)
_SAME_VALUES = words("T mT H mH data real grad")
PASSES_ON = VIEWING | COPYING
"""Methods whose result has the values of their tensor."""
_KEEPS = frozenset(words("zip enumerate iter next reversed list tuple dict"))
"""Built-in functions whose result has, or goes through, the values that they are given."""
_DESCRIBES = frozenset(words("TensorDescriptor from_tensor"))
_DESCRIBED = frozenset(words("base tensor"))
"""What makes a tensor descriptor, and the names under which it takes the tensor."""
_DEPTH = 30


class Origin(IntEnum):
    """Origin of the values of an expression, as far as it can be determined."""

    UNKNOWN = 0
    OWN = 1
    """A tensor that the candidate allocated or built."""
    INPUT = 2
    """A tensor argument, or a value made from one."""


class Tensors:
    """Which expressions of a reading are tensors."""

    def __init__(self, reading: CodeIndex) -> None:
        self._reading = reading
        self._known: dict[ast.AST, Origin] = {}
        self._flows: dict[ast.AST, Flow] = {}

    def flow(self, function: Function) -> Flow:
        """How values pass through a function."""
        if function not in self._flows:
            self._flows[function] = Flow(self._reading, function)
        return self._flows[function]

    def origin(self, node: ast.AST | None, depth: int = _DEPTH) -> Origin:
        """Whether this is a tensor, and its origin."""
        if node is None or depth == 0:
            return Origin.UNKNOWN
        if node not in self._known:
            self._known[node] = Origin.UNKNOWN  # a recursive lookup gets nothing
            self._known[node] = self._origin(node, depth - 1)
        return self._known[node]

    def _origin(self, node: ast.AST, depth: int) -> Origin:
        match node:
            case ast.Name():
                return self._of_name(node, depth)
            case ast.Attribute(attr=attribute):
                return self.origin(node.value, depth) if attribute in _SAME_VALUES else Origin.UNKNOWN
            case ast.Subscript() | ast.Starred() | ast.NamedExpr():
                return self.origin(node.value, depth)
            case ast.BinOp():
                return max(self.origin(node.left, depth), self.origin(node.right, depth))
            case ast.UnaryOp(op=ast.USub() | ast.Invert()):
                return self.origin(node.operand, depth)
            case ast.Compare(ops=[ast.Lt() | ast.Gt() | ast.LtE() | ast.GtE() | ast.Eq() | ast.NotEq()]):
                return max(self.origin(node.left, depth), self.origin(node.comparators[0], depth))
            case ast.IfExp():
                return max(self.origin(node.body, depth), self.origin(node.orelse, depth))
            case ast.BoolOp():
                return max(self.origin(part, depth) for part in node.values)
            case ast.Call():
                return self._of_call(node, depth)
        return Origin.UNKNOWN

    def _of_name(self, node: ast.Name, depth: int) -> Origin:
        found = Origin.UNKNOWN
        for binding in self._reading.bindings(node):
            if binding.kind is Kind.PARAMETER:
                if self._is_annotated(binding.annotation) or self._is_used_as_tensor(node):
                    found = Origin.INPUT
            elif binding.kind is Kind.VALUE:
                found = max(found, self.origin(binding.node, depth))
            elif binding.kind is Kind.ELEMENT and isinstance(binding.node, ast.Tuple | ast.List):
                found = max(found, *(self.origin(item, depth) for item in binding.node.elts), Origin.UNKNOWN)
        return found

    def _is_annotated(self, annotation: ast.expr | None) -> bool:
        return annotation is not None and "Tensor" in ast.unparse(annotation).replace("TensorDescriptor", "")

    def _is_used_as_tensor(self, node: ast.Name) -> bool:
        owner = self._reading.layout.scopes[node].owner(node.id)
        return owner is not None and (owner.node, node.id) in self._tensor_like | self._handed_in

    @cached_property
    def _handed_in(self) -> set[tuple[ast.AST, str]]:
        """The parameters of the entry that are tensors by the arguments known to the reading."""
        entries = [
            node
            for node in self._reading.all(ast.FunctionDef)
            if node.name == self._reading.entry and self._reading.parent(node) is self._reading.tree
        ]
        return {
            (entry, parameter.arg)
            for entry in entries
            for position, parameter in enumerate((*entry.args.posonlyargs, *entry.args.args))
            if position in self._reading.given
        }

    @cached_property
    def _tensor_like(self) -> set[tuple[ast.AST, str]]:
        found: set[tuple[ast.AST, str]] = set()
        for node in self._reading.all(ast.Attribute):
            if node.attr in _TENSOR_ATTRIBUTES and isinstance(node.value, ast.Name):
                owner = self._reading.layout.scopes[node].owner(node.value.id)
                if owner is not None:
                    found.add((owner.node, node.value.id))
        return found

    def _of_call(self, node: ast.Call, depth: int) -> Origin:
        if isinstance(node.func, ast.Attribute) and (base := self.origin(node.func.value, depth)) is not Origin.UNKNOWN:
            plain = node.func.attr.rstrip("_")
            if plain.startswith("new"):
                return Origin.OWN
            return base if plain in PASSES_ON | COMPUTING_METHODS else Origin.UNKNOWN
        for name in self._reading.names.of(node.func):
            operator = name.rpartition(".")[2]
            if (
                name.startswith("torch.")
                and operator in ALLOCATING
                and operator not in ("complex", "polar", "Generator")
            ):
                handed_in = operator in ("as_tensor", "tensor", "asarray", "from_numpy") and node.args
                return self.origin(node.args[0], depth) or Origin.OWN if handed_in else Origin.OWN
            if weight_of(name) is not None or (name.startswith("torch.") and operator in PASSES_ON - DESCRIBING):
                parts = [self.origin(item, depth) for item in _items(node)]
                return max([Origin.OWN, *parts])
        return Origin.UNKNOWN


class Flow:
    """Which variables of one function have the same values, and which of them are returned."""

    def __init__(self, reading: CodeIndex, function: Function) -> None:
        self._reading = reading
        self.function = function
        self._leaders: dict[str, str] = {}
        for target, value in self.assignments:
            for name in same_values(value):
                self._join(target, name)

    def group(self, name: str) -> str:
        """A name that represents all variables that may share values with this one."""
        seen = name
        while (leader := self._leaders.get(seen, seen)) != seen:
            self._leaders[seen] = self._leaders.get(leader, leader)
            seen = leader
        return seen

    def groups(self, node: ast.AST | None) -> set[str]:
        """The groups of the variables whose values this expression passes on."""
        return {self.group(name) for name in same_values(node)}

    @cached_property
    def assignments(self) -> list[tuple[str, ast.expr]]:
        """Every variable that is assigned an expression."""
        found: list[tuple[str, ast.expr]] = []
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                found += [pair for target in node.targets for pair in _pairs(target, node.value)]
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                found += _pairs(node.target, node.value)
            elif isinstance(node, ast.For):
                found += _pairs(node.target, node.iter)
            elif isinstance(node, Function) and node is not self.function:
                found += [(item.arg, default) for item, default in parameters_of(node.args) if default is not None]
        return found

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the function, including nested functions."""
        return self._reading.inside(self.function)

    @cached_property
    def returns(self) -> list[ast.expr]:
        """Returned expressions of the function, without those of nested functions."""
        scope = self._reading.layout.inner[self.function]
        return [node.value for node in self._reading.names.returns.get(scope, ()) if node.value is not None]

    @cached_property
    def returned(self) -> set[str]:
        """Groups of the variables that are returned."""
        return {group for value in self.returns for group in self.groups(value)}

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the parameters, without `self` of a method."""
        names = [parameter.arg for parameter, _ in parameters_of(self.function.args)]
        return names[1:] if isinstance(self._reading.parent(self.function), ast.ClassDef) else names

    @cached_property
    def answer(self) -> set[str]:
        """Variables whose values reach the return value, including through arithmetic of PyTorch."""
        waiting = [name for value in self.returns for name in value_names(value)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [source for value in self.values_of.get(name, ()) for source in value_names(value)]
        return found

    @cached_property
    def values_of(self) -> dict[str, list[ast.expr]]:
        """Expressions assigned to each variable."""
        found: dict[str, list[ast.expr]] = {}
        for target, value in self.assignments:
            found.setdefault(target, []).append(value)
        return found

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """The assigned variables of each group."""
        found: dict[str, list[str]] = {}
        for name in self.values_of:
            found.setdefault(self.group(name), []).append(name)
        return found

    def uses(self, groups: set[str]) -> Iterator[ast.Name]:
        """Every place where a variable of these groups is read."""
        for group in sorted(groups):
            yield from self._reads.get(group, ())

    @cached_property
    def _reads(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(self.group(node.id), []).append(node)
        return found

    def _join(self, one: str, other: str) -> None:
        self._leaders[self.group(one)] = self.group(other)


def same_values(node: ast.AST | None) -> Iterator[str]:
    """The variables whose values an expression passes on unchanged: through views, casts and copies."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=attribute) if attribute in _SAME_VALUES:
            yield from same_values(node.value)
        case ast.Subscript(value=held) | ast.Starred(value=held) | ast.NamedExpr(value=held):
            yield from same_values(held)
        case ast.IfExp():
            yield from same_values(node.body)
            yield from same_values(node.orelse)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from same_values(part)
        case ast.Dict():
            for part in node.values:
                yield from same_values(part)
        case ast.GeneratorExp(elt=element, generators=loops) | ast.ListComp(elt=element, generators=loops):
            yield from _of_each(element, loops)
        case ast.Call(func=ast.Name(id=name)) if name in _KEEPS:
            for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from same_values(part)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _DESCRIBES:
            for part in (*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in _DESCRIBED)):
                yield from same_values(part)
        case ast.Call(func=ast.Attribute(attr=attribute, value=held)) if attribute.rstrip("_") in PASSES_ON:
            yield from same_values(held)
            if isinstance(held, ast.Name | ast.Attribute):  # torch.reshape(x, ...)
                for item in node.args[:1]:
                    yield from same_values(item)


def _of_each(element: ast.expr, loops: list[ast.comprehension]) -> Iterator[str]:
    """The variables whose values a comprehension passes on: those of what it iterates over, and others it names."""
    sources = {part.id: loop.iter for loop in loops for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    for name in same_values(element):
        if name in sources:
            yield from same_values(sources[name])
        else:
            yield name


def value_names(node: ast.AST | None) -> Iterator[str]:
    """The variables whose values an expression depends on through PyTorch's own arithmetic, not through sizes."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attribute, value=held)):
            if attribute in ALLOCATING or attribute in DESCRIBING or attribute not in PLAIN | COMPUTING_METHODS:
                return
            yield from value_names(held)
            for item in _items(node):
                yield from value_names(item)
        case ast.BinOp():
            yield from value_names(node.left)
            yield from value_names(node.right)
        case ast.UnaryOp():
            yield from value_names(node.operand)
        case ast.Compare():
            yield from value_names(node.left)
        case _:
            yield from same_values(node)


def _items(node: ast.Call) -> Iterator[ast.expr]:
    for item in (*node.args, *(keyword.value for keyword in node.keywords)):
        if isinstance(item, ast.List | ast.Tuple):
            yield from item.elts
        else:
            yield item


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        alike = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        parts = value.elts if alike and isinstance(value, ast.Tuple | ast.List) else [value] * len(target.elts)
        for part, item in zip(target.elts, parts, strict=True):
            yield from _pairs(part, item)
    elif isinstance(target, ast.Starred):
        yield from _pairs(target.value, value)
