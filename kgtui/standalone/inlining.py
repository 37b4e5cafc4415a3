"""Extracts definitions from kgtui's modules, with all their dependencies in kgtui.
Modules are read as text and never imported, since they import torch, which this process must not.  Copied definitions
are unchanged; two modules that use one name for different things cannot be combined.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import UsageError
from engine.model.parsing import parse

_OURS = ("engine.", "problems.", "kgtui.")
_DEFERRED = ("problems.kit.deferred", "torch")  # the lazy stand-in for torch used while listing the catalogue


@dataclass(kw_only=True)
class _Module:
    """A module as text: its statements by the names that they bind, and those taken."""

    name: str
    lines: list[str]
    statements: list[ast.stmt]
    places: dict[str, list[int]] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    uses: list[str] = field(default_factory=list)


class Inliner:
    """Collects definitions; `imports` and `text` are the resulting code."""

    def __init__(self, *, files: Mapping[str, Path] | None = None) -> None:
        """`files` are paths of modules that cannot be found by name."""
        self._files = dict(files or {})
        self._modules: dict[str, _Module] = {}
        self._owners: dict[str, str] = {}
        self._imports: set[str] = set()

    def take(self, module: str, name: str) -> None:
        """Add the definition of `name` in `module`, and its dependencies.

        Raises:
            UsageError: it has an unsupported form.
        """
        found = self._read(module)
        places = found.places.get(name)
        if places is None:
            return  # a builtin
        for place in places:
            statement = found.statements[place]
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._follow(found, statement, name)
            elif place not in found.taken:
                self._own(name, module)
                found.taken.add(place)
                for used in sorted(_used(statement)):
                    self.take(module, used)

    @property
    def imports(self) -> str:
        """The import statements, those of whole modules first."""
        return "\n".join(sorted(self._imports, key=lambda line: (line.startswith("from"), line)))

    @property
    def text(self) -> str:
        """The definitions, module by module, dependencies first."""
        ordered: dict[str, _Module] = {}
        for name in list(self._modules):
            self._in_order(name, ordered, set())
        return "\n\n\n".join(_text(module) for module in ordered.values() if module.taken)

    def _in_order(self, name: str, ordered: dict[str, _Module], above: set[str]) -> None:
        """Order a module after its dependencies."""
        if name not in ordered and name not in above:
            for used in self._modules[name].uses:
                self._in_order(used, ordered, above | {name})
            ordered[name] = self._modules[name]

    def _follow(self, module: _Module, statement: ast.Import | ast.ImportFrom, name: str) -> None:
        alias = next(alias for alias in statement.names if (alias.asname or alias.name.partition(".")[0]) == name)
        source = statement.module or "" if isinstance(statement, ast.ImportFrom) else alias.name
        if (source, alias.name) == _DEFERRED:
            self._imports.add("import torch")
        elif not f"{source}.".startswith(_OURS):
            whole = ast.Import([alias])
            part = ast.ImportFrom(source, [alias], 0)
            self._imports.add(ast.unparse(whole if isinstance(statement, ast.Import) else part))
        elif isinstance(statement, ast.Import) or alias.asname not in (None, alias.name):
            raise UsageError(f"{module.name}: {ast.unparse(statement)!r} cannot be written into a script")
        else:
            module.uses.append(source)
            self.take(source, alias.name)

    def _own(self, name: str, module: str) -> None:
        owner = self._owners.setdefault(name, module)
        if owner != module:
            raise UsageError(f"{owner} and {module} both define {name!r}; a script cannot contain both")

    def _read(self, name: str) -> _Module:
        if name not in self._modules:
            text = self._file(name).read_text(encoding="utf-8")
            module = _Module(name=name, lines=text.splitlines(), statements=list(_statements(parse(text).body)))
            for place, statement in enumerate(module.statements):
                for bound in _bound(statement):
                    module.places.setdefault(bound, []).append(place)
            self._modules[name] = module
        return self._modules[name]

    def _file(self, module: str) -> Path:
        if module in self._files:
            return self._files[module]
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            raise UsageError(f"there is no source of {module}, which a stand-alone script would need")
        return Path(spec.origin)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The executed statements of a module: type-checking branches are replaced by their runtime alternative."""
    for statement in body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from statement.orelse
        else:
            yield statement


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds, or whose attribute it sets."""
    match statement:
        case ast.FunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        case ast.Assign(targets=targets):
            for part in (part for target in targets for part in ast.walk(target)):
                if isinstance(part, ast.Name):
                    yield part.id
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _used(statement: ast.stmt) -> set[str]:
    """The names that a statement reads when it runs; annotations are never evaluated."""
    used: set[str] = set()
    bound: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
            continue
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in parts if isinstance(part, ast.AST)]
    return used if isinstance(statement, ast.Assign | ast.ClassDef) else used - bound


def _text(module: _Module) -> str:
    parts, was_block = [f"# from {module.name}"], False
    for place in sorted(module.taken):
        statement = module.statements[place]
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        is_block = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        parts.append(
            "\n" * (2 if is_block or was_block else 0) + "\n".join(module.lines[first - 1 : statement.end_lineno])
        )
        was_block = is_block
    return "\n".join(parts)
