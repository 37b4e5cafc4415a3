"""Scopes: which statement gives a name its value, and which code runs at all.

One walk over the tree finds every binding, the parents of all nodes and the nodes of each type, so that many checks
need no walk of their own.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPPED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class Kind(Enum):
    """How a name got its value."""

    IMPORT = auto()
    """`dotted` is what was imported."""
    VALUE = auto()
    """`node` is the value."""
    ELEMENT = auto()
    """`node` is the container: a loop iterates over it, or an assignment unpacks it."""
    DEFINITION = auto()
    """`node` is the function or the class."""
    PARAMETER = auto()
    """`node` is the default, if there is one."""
    OPAQUE = auto()
    """Something else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """One binding of a name."""

    kind: Kind
    node: ast.AST | None = None
    dotted: str = ""
    annotation: ast.expr | None = None


@dataclass(kw_only=True, eq=False, slots=True)
class Scope:
    """A module, a class, a function, or the part of a module that runs only as a script."""

    node: ast.AST
    parent: Scope | None
    bindings: defaultdict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    elsewhere: dict[str, Scope] = field(default_factory=dict)  # `global` and `nonlocal`
    as_script: bool = False

    def with_parents(self) -> Iterator[Scope]:
        """This scope and those that contain it, from the inside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> list[Binding]:
        """Bindings that may give `name` its value in this scope."""
        owner = self.owner(name)
        return owner.bindings[name] if owner is not None else []

    def owner(self, name: str) -> Scope | None:
        """The scope of the variable `name`; None if nothing here binds it."""
        scope: Scope | None = self.elsewhere.get(name, self)
        first = True
        while scope is not None:
            if name in scope.bindings and (first or not isinstance(scope.node, ast.ClassDef)):
                return scope
            scope, first = scope.parent, False
        return None

    def function(self) -> Function | ast.Lambda | None:
        """The innermost function around this scope."""
        scope: Scope | None = self
        while scope is not None:
            if isinstance(scope.node, Function | ast.Lambda):
                return scope.node
            scope = scope.parent
        return None


@dataclass(kw_only=True, slots=True)
class Layout:
    """Result of one walk over a tree."""

    module: Scope
    nodes: defaultdict[type[ast.AST], list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)  # of every node, the scope it is evaluated in
    inner: dict[ast.AST, Scope] = field(default_factory=dict)  # of functions and classes, the scope they open
    stars: list[str] = field(default_factory=list)  # modules of which every name was imported
    attributes: defaultdict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    sequence: list[ast.AST] = field(default_factory=list)  # every node, each before its parts
    spans: dict[ast.AST, tuple[int, int]] = field(default_factory=dict)  # of functions and classes, their part of it


def lay_out(tree: ast.Module) -> Layout:
    """Walk the tree once, in the order of its text."""
    module = Scope(node=tree, parent=None)
    layout = Layout(module=module)
    stack: list[tuple[ast.AST, Scope]] = [(tree, module)]
    nodes, parents, scopes, sequence = layout.nodes, layout.parents, layout.scopes, layout.sequence
    open_: list[tuple[ast.AST, int, int]] = []  # open functions: node, first position, stack height
    while stack:
        node, scope = stack.pop()
        while open_ and len(stack) < open_[-1][2]:
            done, first, _ = open_.pop()
            layout.spans[done] = (first, len(sequence))
        sequence.append(node)
        nodes[node.__class__].append(node)
        scopes[node] = scope
        bind = _BINDERS.get(node.__class__)
        if bind is not None:
            bind(node, scope, layout)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            _declare(scope, node, module)
        children = _children(node, scope, layout)
        for child, _ in children:
            parents[child] = node
        if isinstance(node, Function | ast.ClassDef):
            open_.append((node, len(sequence) - 1, len(stack)))
        stack.extend(reversed(children))
    layout.spans.update({node: (first, len(sequence)) for node, first, _ in open_})
    return layout


def parameters_of(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """The parameters in their order, those of any number of arguments left out, each with its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*zip(positional, [*required, *arguments.defaults], strict=True), *keyword_only]


def is_script_guard(test: ast.expr) -> bool:
    """Whether this is `__name__ == "__main__"`."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    has_name = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return has_name and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def _children(node: ast.AST, scope: Scope, layout: Layout) -> list[tuple[ast.AST, Scope]]:
    if isinstance(node, Function | ast.Lambda | ast.ClassDef):
        return _children_of_definition(node, scope, layout)
    if isinstance(node, ast.If) and is_script_guard(node.test):
        script = Scope(node=scope.node, parent=scope.parent, bindings=scope.bindings, as_script=True)
        return [(node.test, scope), *((part, script) for part in node.body), *((part, scope) for part in node.orelse)]
    found: list[tuple[ast.AST, Scope]] = []
    values = node.__dict__
    for name in node._fields:
        value = values.get(name)
        if isinstance(value, list):
            found += [(part, scope) for part in value if isinstance(part, ast.AST) and not isinstance(part, _SKIPPED)]
        elif isinstance(value, ast.AST) and not isinstance(value, _SKIPPED):
            found.append((value, scope))
    return found


def _children_of_definition(
    node: Function | ast.Lambda | ast.ClassDef, scope: Scope, layout: Layout
) -> list[tuple[ast.AST, Scope]]:
    inner = layout.inner[node] = Scope(node=node, parent=scope, as_script=scope.as_script)
    outside: list[ast.AST] = []
    if not isinstance(node, ast.Lambda):
        outside += node.decorator_list
    if isinstance(node, ast.ClassDef):
        outside += [*node.bases, *node.keywords]
        return [*((part, scope) for part in outside), *((part, inner) for part in node.body)]
    _bind_parameters(node.args, inner)
    outside.append(node.args)
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        outside.append(node.returns)
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return [*((part, scope) for part in outside), *((part, inner) for part in body)]


def _bind_parameters(arguments: ast.arguments, scope: Scope) -> None:
    for argument, default in parameters_of(arguments):
        scope.bindings[argument.arg].append(Binding(kind=Kind.PARAMETER, node=default, annotation=argument.annotation))
    for several in (arguments.vararg, arguments.kwarg):
        if several is not None:
            scope.bindings[several.arg].append(Binding(kind=Kind.OPAQUE))


def _declare(scope: Scope, node: ast.Global | ast.Nonlocal, module: Scope) -> None:
    for name in node.names:
        target = module if isinstance(node, ast.Global) else scope.parent
        while isinstance(node, ast.Nonlocal) and target is not None and name not in target.bindings:
            target = target.parent
        if target is not None:
            scope.elsewhere[name] = target


def _bind(name: str, scope: Scope, binding: Binding) -> None:
    scope.elsewhere.get(name, scope).bindings[name].append(binding)


def _bind_import(node: ast.Import, scope: Scope, layout: Layout) -> None:
    for alias in node.names:
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        _bind(alias.asname or dotted, scope, Binding(kind=Kind.IMPORT, dotted=dotted))


def _bind_import_from(node: ast.ImportFrom, scope: Scope, layout: Layout) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            layout.stars.append(module)
        else:
            dotted = f"{module}.{alias.name}" if module.strip(".") else f"{module}{alias.name}"
            _bind(alias.asname or alias.name, scope, Binding(kind=Kind.IMPORT, dotted=dotted))


def _bind_definition(node: Function | ast.ClassDef, scope: Scope, layout: Layout) -> None:
    _bind(node.name, scope, Binding(kind=Kind.DEFINITION, node=node))


def _bind_assign(node: ast.Assign, scope: Scope, layout: Layout) -> None:
    for target in node.targets:
        _bind_target(target, node.value, scope, layout)


def _bind_annotated(node: ast.AnnAssign, scope: Scope, layout: Layout) -> None:
    if node.value is not None:
        _bind_target(node.target, node.value, scope, layout)


def _bind_walrus(node: ast.NamedExpr, scope: Scope, layout: Layout) -> None:
    _bind_target(node.target, node.value, scope, layout)


def _bind_loop(node: ast.For | ast.AsyncFor | ast.comprehension, scope: Scope, layout: Layout) -> None:
    _bind_target(node.target, node.iter, scope, layout, kind=Kind.ELEMENT)


def _bind_with(node: ast.withitem, scope: Scope, layout: Layout) -> None:
    if node.optional_vars is not None:
        _bind_target(node.optional_vars, node.context_expr, scope, layout)


def _bind_changed(node: ast.AugAssign, scope: Scope, layout: Layout) -> None:
    if isinstance(node.target, ast.Name):
        _bind(node.target.id, scope, Binding(kind=Kind.OPAQUE))


def _bind_handler(node: ast.ExceptHandler, scope: Scope, layout: Layout) -> None:
    if node.name:
        _bind(node.name, scope, Binding(kind=Kind.OPAQUE))


def _bind_target(target: ast.expr, value: ast.expr, scope: Scope, layout: Layout, kind: Kind = Kind.VALUE) -> None:
    if isinstance(target, ast.Name):
        _bind(target.id, scope, Binding(kind=kind, node=value))
    elif isinstance(target, ast.Attribute) and kind is Kind.VALUE:
        layout.attributes[target.attr].append(value)
    elif isinstance(target, ast.Starred):
        _bind_target(target.value, value, scope, layout, Kind.ELEMENT)
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) and kind is Kind.VALUE else []
        if len(values) == len(target.elts) and not any(
            isinstance(part, ast.Starred) for part in (*values, *target.elts)
        ):
            for part, item in zip(target.elts, values, strict=True):
                _bind_target(part, item, scope, layout)
        else:
            for part in target.elts:
                _bind_target(part, value, scope, layout, Kind.ELEMENT)


_BINDERS: dict[type[ast.AST], Callable[[Any, Scope, Layout], None]] = {  # Any: each takes the node of its key
    ast.Import: _bind_import,
    ast.ImportFrom: _bind_import_from,
    ast.FunctionDef: _bind_definition,
    ast.AsyncFunctionDef: _bind_definition,
    ast.ClassDef: _bind_definition,
    ast.Assign: _bind_assign,
    ast.AnnAssign: _bind_annotated,
    ast.NamedExpr: _bind_walrus,
    ast.For: _bind_loop,
    ast.AsyncFor: _bind_loop,
    ast.comprehension: _bind_loop,
    ast.withitem: _bind_with,
    ast.AugAssign: _bind_changed,
    ast.ExceptHandler: _bind_handler,
}
