"""An index of one candidate's syntax tree: nodes by type, what names refer to, and which code runs on the host.

Host code runs when the entry is called: no kernels, nothing that only runs as a script, and no functions that are never
called.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TypeVar

from engine.static.analysis.names import Names
from engine.static.analysis.scopes import Binding, Function, Scope, lay_out

Node = TypeVar("Node", bound=ast.AST)
_QUIET_DECORATORS = (
    "functools.",
    "builtins.",
    "torch.no_grad",
    "torch.inference_mode",
    "contextlib.",
    "dataclasses.",
    "triton.testing.perf_report",
    "pytest.",
)


class CodeIndex:
    """An index of a syntax tree and its names.

    `entry` is the function that will be called, if known, and `given` the positions of its tensor arguments.
    """

    def __init__(
        self, tree: ast.Module, *, text: str = "", entry: str | None = None, given: Collection[int] = ()
    ) -> None:
        self.tree = tree
        self.text = text
        self.given = given
        self.layout = lay_out(tree)
        self.names = Names(self.layout)
        defined = {node.name for node in self.all(ast.FunctionDef) if self.parent(node) is tree}
        self.entry = entry if entry in defined or (entry and entry in self.layout.module.bindings) else None
        self._host: dict[type[ast.AST], list[ast.AST]] = {}

    def all(self, *kinds: type[Node]) -> Iterator[Node]:
        """Every node of these types, including kernels and dead code."""
        for kind in kinds:
            yield from self.layout.nodes[kind]  # type: ignore[misc]  # filed under their own type

    @property
    def size(self) -> int:
        """Number of syntax nodes in the text."""
        return len(self.layout.sequence)

    def inside(self, node: Function | ast.ClassDef) -> list[ast.AST]:
        """A function or class and every node in it."""
        first, end = self.layout.spans[node]
        return self.layout.sequence[first:end]

    def host(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these types in the host code, in the order of the text for each type."""
        for kind in kinds:
            if kind not in self._host:
                self._host[kind] = [node for node in self.layout.nodes[kind] if self.is_host(node)]
            yield from self._host[kind]  # type: ignore[misc]  # filed under their own type

    def mentions(self, *wanted: str) -> Iterator[tuple[ast.expr, str]]:
        """Calls and other uses in host code of these dotted names; `socket.` matches everything in a module."""
        seen: set[ast.AST] = set()
        names = frozenset(wanted)
        modules = tuple(name for name in wanted if name.endswith("."))
        for top in sorted({name.partition(".")[0] for name in wanted}):
            for node, name in self._uses_by_module.get(top, ()):
                if (name in names or name.startswith(modules)) and node not in seen:
                    seen.add(node)
                    yield node, name

    @cached_property
    def uses(self) -> list[tuple[ast.expr, frozenset[str]]]:
        """Every place in the host code where a named object is called or passed on.

        The definition of an alias is not a use, but the uses of the alias are; a call represents the function that it
        calls.
        """
        nodes: list[tuple[ast.expr, ast.expr]] = [(call, call.func) for call in self.host(ast.Call)]
        read: list[ast.Attribute | ast.Name] = [*self.host(ast.Attribute), *self.host(ast.Name)]
        nodes += [(node, node) for node in read if isinstance(node.ctx, ast.Load) and not self._is_on_the_way(node)]
        return [(node, names) for node, spelled in nodes if (names := self.names.of(spelled))]

    @cached_property
    def _uses_by_module(self) -> dict[str, list[tuple[ast.expr, str]]]:
        """The uses of each dotted name by the first part of the name; without results of calls and items."""
        by_top: dict[str, list[tuple[ast.expr, str]]] = {}
        for node, names in self.uses:
            for name in sorted(names):
                if ")" not in name and "]" not in name:
                    by_top.setdefault(name.partition(".")[0], []).append((node, name))
        return by_top

    def _is_on_the_way(self, node: ast.expr) -> bool:
        """Whether this expression is a part of a larger one, or is bound to another name."""
        match self.layout.parents.get(node):
            case ast.Call(func=function):
                return function is node
            case ast.Attribute():
                return True
            case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
                return value is node
        return False

    def is_host(self, node: ast.AST) -> bool:
        """Whether this runs on the host when the candidate is loaded or called."""
        return self._is_live[self.layout.scopes[node]]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that contains this one."""
        return self.layout.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that contain this one, from the inside."""
        parent = self.layout.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.layout.parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost enclosing statement, or the statement itself."""
        return next((part for part in (node, *self.ancestors(node)) if isinstance(part, ast.stmt)), None)

    def function(self, node: ast.AST) -> Function | None:
        """The outermost function around an expression or statement; nested ones share its variables."""
        outermost = None
        for part in self.ancestors(node):
            if isinstance(part, Function):
                outermost = part
        return outermost

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Bindings that may give this name its value."""
        return self.layout.scopes[name].find(name.id)

    def is_persistent(self, name: ast.Name) -> bool:
        """Whether the name outlives a call: it belongs to the module, not to a function."""
        owner = self.layout.scopes[name].owner(name.id)
        return owner is not None and owner.function() is None

    def definitions(self, node: ast.AST | None) -> list[Function]:
        """The functions of this file that an expression may refer to."""
        scope = self.layout.scopes.get(node, self.layout.module) if node is not None else self.layout.module
        found: list[Function] = []
        for name in self.names.of(node):
            plain = name[1:].partition("[")[0]
            if name.startswith(".") and "." not in plain:
                found += [b.node for b in scope.find(plain) if isinstance(b.node, Function)]
        return found

    def docstrings(self) -> Iterator[ast.Constant]:
        """Every string that is a statement of its own."""
        for node in self.all(ast.Expr):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value

    @cached_property
    def kernels(self) -> frozenset[Function]:
        """The functions that Triton compiles, helpers of kernels included."""
        found = {node for node in self.all(ast.FunctionDef) if any(map(self._compiles, node.decorator_list))}
        for call in self.all(ast.Call):
            if self._compiles(call.func):
                for argument in call.args:
                    if isinstance(argument, ast.Name):
                        found.update(b.node for b in self.bindings(argument) if isinstance(b.node, ast.FunctionDef))
        return frozenset(found)

    def _compiles(self, node: ast.expr) -> bool:
        return any(
            name.removesuffix("()").rpartition(".")[2] == "jit" and not name.startswith("torch.")
            for name in self.names.of(node)
        )

    # ------------------------------------------------------------ what runs

    @cached_property
    def _is_live(self) -> dict[Scope, bool]:
        return {scope: not any(map(self._is_dead, scope.with_parents())) for scope in set(self.layout.scopes.values())}

    def _is_dead(self, scope: Scope) -> bool:
        """Whether the code of a scope itself does not run on the host."""
        if scope.as_script or scope.node in self.kernels:
            return True
        is_definition = isinstance(scope.node, Function | ast.ClassDef)
        return self.entry is not None and is_definition and scope.node not in self._live_definitions

    @cached_property
    def _live_definitions(self) -> set[ast.AST]:
        """Functions and classes that are reachable from the module's own code and the entry by their names."""
        by_name: dict[str, list[ast.AST]] = {}
        definitions: list[Function | ast.ClassDef] = [*self.all(ast.FunctionDef), *self.all(ast.AsyncFunctionDef)]
        for definition in (*definitions, *self.all(ast.ClassDef)):
            by_name.setdefault(definition.name, []).append(definition)
        live: set[ast.AST] = set()
        waiting: list[ast.AST] = [self.tree, *by_name.get(self.entry or "", ())]
        waiting += [node for nodes in by_name.values() for node in nodes if self._is_registered(node)]
        while waiting:
            node = waiting.pop()
            if node in live:
                continue
            live.add(node)
            waiting += [found for name in self._words_of_definitions.get(node, ()) for found in by_name.get(name, ())]
            inside = self.layout.inner.get(node)
            waiting += [
                part for part, scope in self.layout.inner.items() if scope.parent is inside and inside is not None
            ]
        return live

    @cached_property
    def _words_of_definitions(self) -> dict[ast.AST, set[str]]:
        """Names, attributes and strings in the code of each definition, without those of inner definitions."""
        found: dict[ast.AST, set[str]] = {}
        for kind in (ast.Name, ast.Attribute, ast.Constant):
            for node in self.all(kind):
                scope = self.layout.scopes[node]
                if scope.as_script:
                    continue
                while isinstance(scope.node, ast.Lambda) and scope.parent is not None:
                    scope = scope.parent
                mentioned = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
                if isinstance(mentioned, str):
                    found.setdefault(scope.node, set()).add(mentioned)
        return found

    def _is_registered(self, node: ast.AST) -> bool:
        """Whether an unknown decorator may keep the function and call it later."""
        if not isinstance(node, Function | ast.ClassDef) or node in self.kernels or self.layout.scopes[node].as_script:
            return False
        return not all(
            any(name.startswith(_QUIET_DECORATORS) for name in self.names.of(decorator))
            for decorator in node.decorator_list
        )
