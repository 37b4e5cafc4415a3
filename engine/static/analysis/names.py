"""Dotted names of an expression: t.nn.functional.relu after `import torch as t`.

A name that is bound twice represents both.  The result of a call ends in "()", an item in "[]", a function or class of
the file itself begins with ".": `torch.cuda.Stream()`, `.softmax_kernel[]`.  An attribute with an unknown name ends in
".?".
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from engine.static.analysis.folding import Value, fold
from engine.static.analysis.scopes import Kind, Layout, Scope

UNSEEN = "?"
_BUILTINS = frozenset(dir(builtins))
_LONGEST = 160
_MOST = 24
_NOTHING: frozenset[str] = frozenset()
_IMPORTERS = frozenset({"importlib.import_module", "importlib.__import__", "builtins.__import__"})
_LOOKUPS = frozenset({"get", "pop", "setdefault", "__getitem__"})
_PARTIALS = frozenset({"functools.partial", "functools.partialmethod"})
_WRAPPERS = frozenset({"builtins.staticmethod", "builtins.classmethod", "functools.wraps()", "inspect.unwrap"})
_READERS = frozenset({"getattr", "__getattribute__", "__getattr__"})


class Names:
    """Resolves the expressions of one tree; every result is cached."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[ast.AST, frozenset[str]] = {}
        self._variables: dict[tuple[Scope | None, str], frozenset[str]] = {}
        self._folded: dict[ast.AST, Value | None] = {}
        self.returns: dict[Scope, list[ast.Return]] = {}
        for node in layout.nodes[ast.Return]:
            if isinstance(node, ast.Return):
                self.returns.setdefault(layout.scopes[node], []).append(node)

    def of(self, node: ast.AST | None) -> frozenset[str]:
        """Everything that the expression may refer to; empty if it is unknown."""
        if node is None:
            return _NOTHING
        known = self._known.get(node)
        if known is None:
            self._known[node] = _NOTHING  # a recursive lookup gets nothing
            known = self._known[node] = frozenset(_limited(self._of(node)))
        return known

    def text(self, node: ast.AST | None) -> str | None:
        """The constant string value of the expression, if known statically."""
        value = self.value(node)
        return value if isinstance(value, str) else None

    def value(self, node: ast.AST | None) -> Value | None:
        """The constant value of the expression, if known statically."""
        if node is None:
            return None
        if node not in self._folded:
            self._folded[node] = fold(node, self.only_value)
        return self._folded[node]

    def template(self, node: ast.AST) -> str | None:
        """The string with `_unseen` in place of unknown parts; None if all of it is unknown."""
        value = fold(node, self.only_value, unknown="_unseen")
        return value if isinstance(value, str) and value != "_unseen" else None

    def only_value(self, name: ast.Name) -> ast.expr | None:
        """The expression that gives a name its value, if there is exactly one."""
        scope = self._layout.scopes.get(name)
        bindings = scope.find(name.id) if scope is not None else []
        if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE:
            return None
        node = bindings[0].node
        return node if isinstance(node, ast.expr) else None

    def attribute(self, node: ast.AST) -> tuple[ast.expr, str] | None:
        """The object and the attribute that an expression reads, spelled as `x.a` or as `getattr(x, "a")`."""
        if isinstance(node, ast.Attribute):
            return node.value, node.attr
        if isinstance(node, ast.Call) and node.args and self.of(node.func) & {"builtins.getattr"}:
            name = self.text(node.args[1]) if len(node.args) > 1 else None
            return (node.args[0], name) if name else None
        if isinstance(node, ast.Name):
            value = self.only_value(node)
            return self.attribute(value) if isinstance(value, ast.Attribute | ast.Call) else None
        return None

    # ------------------------------------------------------------ by kind of expression

    def _of(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name():
                yield from self._of_variable(node.id, self._layout.scopes.get(node, self._layout.module))
            case ast.Attribute():
                yield from self._of_attribute(node)
            case ast.Call():
                yield from self._of_call(node)
            case ast.Subscript():
                yield from self._of_item(node)
            case ast.IfExp():
                yield from self.of(node.body) | self.of(node.orelse)
            case ast.BoolOp():
                for part in node.values:
                    yield from self.of(part)
            case ast.NamedExpr() | ast.Await() | ast.Starred():
                yield from self.of(node.value)
            case ast.Lambda():
                yield from (f"{name}~" for name in self.of(node.body))

    def _of_variable(self, name: str, scope: Scope) -> frozenset[str]:
        key = (scope.owner(name), name)
        if key not in self._variables:
            self._variables[key] = _NOTHING
            self._variables[key] = frozenset(_limited(self._of_name(name, scope)))
        return self._variables[key]

    def _of_name(self, name: str, scope: Scope) -> Iterator[str]:
        bindings = scope.find(name)
        for binding in bindings:
            match binding.kind:
                case Kind.IMPORT:
                    yield binding.dotted
                case Kind.DEFINITION:
                    yield f".{name}"
                case Kind.VALUE | Kind.PARAMETER:
                    yield from self.of(binding.node)
                case Kind.ELEMENT if isinstance(binding.node, ast.Tuple | ast.List | ast.Set):
                    for item in binding.node.elts:
                        yield from self.of(item)
        if not bindings:
            yield f"builtins.{name}" if name in _BUILTINS else name
            yield from (f"{module}.{name}" for module in self._layout.stars)

    def _of_attribute(self, node: ast.Attribute) -> Iterator[str]:
        bases = self.of(node.value)
        yield from (f"{base}.{node.attr}" for base in bases)
        if all(base.startswith(".") or base.endswith(")") for base in bases):
            for value in self._layout.attributes.get(node.attr, ()):
                yield from self.of(value)

    def _of_call(self, node: ast.Call) -> Iterator[str]:
        functions = self.of(node.func)
        for function in functions:
            if function == "builtins.getattr" or function.rpartition(".")[2] in _READERS:
                yield from self._read_attribute(node, function)
            elif function in _IMPORTERS:
                yield from self._imported(node)
            elif function in _PARTIALS | _WRAPPERS and node.args:
                yield from self.of(node.args[0])
            elif function == "operator.attrgetter()" and isinstance(node.func, ast.Call) and node.args:
                yield from self._joined(self.of(node.args[0]), node.func.args)
            elif function in ("builtins.vars", "builtins.globals", "builtins.locals"):
                yield from (f"{base}.__dict__" for base in self.of(node.args[0])) if node.args else ("__dict__",)
            elif function.rpartition(".")[2] in _LOOKUPS and isinstance(node.func, ast.Attribute):
                yield from self._looked_up(node.func.value, node.args[0] if node.args else None)
            elif function.endswith("~"):
                yield function[:-1]
            else:
                yield f"{function}()"
            yield from self._returned(function)
        if not functions and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKUPS:
            yield from self._looked_up(node.func.value, node.args[0] if node.args else None)

    def _read_attribute(self, node: ast.Call, function: str) -> Iterator[str]:
        if function == "builtins.getattr" or len(node.args) == 2:
            bases, name = self.of(node.args[0]) if node.args else _NOTHING, node.args[1:2]
        else:  # torch.__getattribute__("mm")
            bases, name = frozenset({function.rpartition(".")[0]}), node.args[:1]
        yield from self._joined(bases, name)

    def _joined(self, bases: Iterable[str], names: list[ast.expr]) -> Iterator[str]:
        text = self.text(names[0]) if names else None
        yield from (f"{base}.{text or UNSEEN}" for base in bases)

    def _imported(self, node: ast.Call) -> Iterator[str]:
        name = self.text(node.args[0]) if node.args else None
        if name is None:
            yield UNSEEN
        elif name.startswith("."):
            package = self.text(node.args[1]) if len(node.args) > 1 else None
            yield f"{package or ''}{name}"
        else:
            yield name
            if "__import__" in ast.unparse(node.func):
                yield name.partition(".")[0]

    def _of_item(self, node: ast.Subscript) -> Iterator[str]:
        yield from self._looked_up(node.value, node.slice)

    def _looked_up(self, holder: ast.expr, key: ast.expr | None) -> Iterator[str]:
        value = self.only_value(holder) if isinstance(holder, ast.Name) else holder
        if isinstance(value, ast.Dict | ast.List | ast.Tuple):
            yield from self._of_elements(value, key)
            return
        for base in self.of(holder):
            if base.endswith("__dict__") or base == "sys.modules":
                yield from self._of_namespace(base, key)
            else:
                yield f"{base}[]"

    def _of_elements(self, holder: ast.Dict | ast.List | ast.Tuple, key: ast.expr | None) -> Iterator[str]:
        wanted = self.value(key)
        if isinstance(holder, ast.Dict):
            for name, item in zip(holder.keys, holder.values, strict=True):
                if wanted is None or name is None or self.value(name) in (wanted, None):
                    yield from self.of(item)
        elif isinstance(wanted, int) and -len(holder.elts) <= wanted < len(holder.elts):
            yield from self.of(holder.elts[wanted])
        else:
            for item in holder.elts:
                yield from self.of(item)

    def _of_namespace(self, base: str, key: ast.expr | None) -> Iterator[str]:
        name = self.text(key)
        if base == "sys.modules":
            yield name or UNSEEN
        elif base == "__dict__":  # globals()
            if name is not None:
                yield from self._of_name(name, self._layout.module)
        else:
            yield f"{base.removesuffix('.__dict__')}.{name or UNSEEN}"

    def _returned(self, function: str) -> Iterator[str]:
        """Names that a function of this file returns."""
        if not function.startswith(".") or function.count(".") != 1:
            return
        for binding in self._layout.module.bindings.get(function[1:], ()):
            if isinstance(binding.node, ast.FunctionDef):
                for node in self.returns.get(self._layout.inner[binding.node], ()):
                    yield from self.of(node.value)


def _limited(names: Iterator[str]) -> Iterator[str]:
    found: set[str] = set()
    for name in names:
        if len(name) <= _LONGEST and name not in found:
            found.add(name)
            yield name
            if len(found) == _MOST:
                return
