"""`torch.utils.cpp_extension` in a process with a candidate: what it builds is taken from where it was published.

`load_inline` takes one argument more than torch's, `separate_units`: each text is compiled as a file of its own, as
the files of a Solution of flashinfer-trace are, and not all texts of a language as one.

Nothing is compiled here.  What was not built yet ends the load with a request, which the parent has carried out by a
compiler that loads no candidate; then the candidate is loaded again.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.model.native import SEPARATE_UNITS, NativeLanguage
from engine.protocol import MOST_SOURCE_CHARACTERS, ExtensionAccess, ExtensionRequest, NativeSource
from engine.protocol.extensions import LIBRARY

# Arguments are a candidate's, and torch's functions are not typed: they are Any throughout this file.

_MODULE = "torch.utils.cpp_extension"
_NAME = re.compile(r"[A-Za-z_]\w{0,100}")
_CUDA_FILES = (".cu", ".cuh")


class ExtensionNeededError(BaseException):
    """The extension has to be built first.

    Not an Exception: a file that catches those would continue with its fallback without the extension.
    """

    def __init__(self, request: ExtensionRequest) -> None:
        super().__init__(f"extension {request.name!r} is not built: build it when the file is loaded, not in a call")
        self.request = request


class ExtensionRefusedError(BaseException):
    """The extension cannot be built here; the message has the reason.  Not an Exception, for the same reason."""


def serve_extensions(access: ExtensionAccess) -> None:
    """Replace torch's functions that build extensions by ones that load from `access`, when the module is imported."""
    loaded = sys.modules.get(_MODULE)
    if loaded is not None:
        _replace(loaded, access)
    else:
        sys.meta_path.insert(0, _OnImport(access))


class _OnImport(MetaPathFinder):
    """Replaces the functions once the module is imported, which most candidates never do."""

    def __init__(self, access: ExtensionAccess) -> None:
        self._access = access

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Replacing(spec.loader, self._access)
        return spec


class _Replacing(Loader):
    def __init__(self, loader: Loader, access: ExtensionAccess) -> None:
        self._loader = loader
        self._access = access

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _replace(module, self._access)


def _replace(module: Any, access: ExtensionAccess) -> None:
    inline, files = inspect.signature(module.load_inline), inspect.signature(module.load)

    def load_inline(*args: Any, **kwargs: Any) -> Any:
        is_joined = not kwargs.pop(SEPARATE_UNITS, False)
        return _served(access, partial(_inline_request, is_joined=is_joined), _bound(inline, args, kwargs))

    def load(*args: Any, **kwargs: Any) -> Any:
        return _served(access, _files_request, _bound(files, args, kwargs))

    module.load_inline, module.load = load_inline, load


def _bound(signature: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _served(access: ExtensionAccess, make: Callable[[dict[str, Any]], ExtensionRequest], given: dict[str, Any]) -> Any:
    """The module that was built for these arguments.

    Raises:
        ExtensionNeededError: it was not built.
        ExtensionRefusedError: it cannot be built here.
    """
    if given.get("sycl_sources"):
        raise ExtensionRefusedError("SYCL extensions are not supported; write CUDA or C++")
    request = make(given)
    if sum(len(source.text) for source in request.sources) > MOST_SOURCE_CHARACTERS:
        raise ExtensionRefusedError(f"extension {request.name!r} has more than {MOST_SOURCE_CHARACTERS:,} characters")
    library = Path(access.folder, request.key, LIBRARY)
    if not library.exists():
        refusal = access.no_cuda if request.with_cuda else access.no_cpp
        if refusal:
            raise ExtensionRefusedError(f"extension {request.name!r} could not be built here: {refusal}")
        raise ExtensionNeededError(request)
    if not given.get("is_python_module", True):
        import torch

        torch.ops.load_library(library)
        return str(library)
    return _imported(request.name, library)


def _imported(name: str, library: Path) -> ModuleType:
    spec = spec_from_file_location(name, library, loader=ExtensionFileLoader(name, str(library)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _inline_request(given: dict[str, Any], *, is_joined: bool) -> ExtensionRequest:
    """The request of a call of load_inline.

    Raises:
        ValueError: texts that are files of their own cannot have functions or headers added.
    """
    if not is_joined and (given["functions"] is not None or not given.get("no_implicit_headers", False)):
        raise ValueError(f"{SEPARATE_UNITS} takes no functions and needs no_implicit_headers=True")
    sources = [
        *_sources("cpp_sources", given["cpp_sources"], NativeLanguage.CPP),
        *_sources("cuda_sources", given["cuda_sources"], NativeLanguage.CUDA),
    ]
    return ExtensionRequest(
        name=_checked_name(given["name"]),
        sources=tuple(sources),
        functions=_functions(given["functions"]),
        joined=is_joined,
        has_headers=not given.get("no_implicit_headers", False),
        handles_errors=bool(given.get("with_pytorch_error_handling", True)),
        with_cuda=_with_cuda(given, sources),
        **_flags(given),
    )


def _files_request(given: dict[str, Any]) -> ExtensionRequest:
    paths = [Path(path) for path in _texts(given["sources"])]
    sources = [
        NativeSource(
            label=path.name,
            language=NativeLanguage.CUDA if path.suffix in _CUDA_FILES else NativeLanguage.CPP,
            text=path.read_text(encoding="utf-8"),
        )
        for path in paths
    ]
    flags = _flags(given)
    beside = dict.fromkeys(str(path.resolve().parent) for path in paths)
    flags["include_folders"] = (*flags["include_folders"], *beside)
    return ExtensionRequest(
        name=_checked_name(given["name"]),
        sources=tuple(sources),
        joined=False,
        with_cuda=_with_cuda(given, sources),
        **flags,
    )


def _with_cuda(given: dict[str, Any], sources: Sequence[NativeSource]) -> bool:
    asked = given.get("with_cuda")
    return any(source.language is NativeLanguage.CUDA for source in sources) if asked is None else bool(asked)


def _flags(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "cxx_flags": _texts(given["extra_cflags"]),
        "cuda_flags": _texts(given["extra_cuda_cflags"]),
        "link_flags": _texts(given["extra_ldflags"]),
        "include_folders": tuple(str(Path(folder).resolve()) for folder in _texts(given["extra_include_paths"])),
    }


def _sources(argument: str, value: Any, language: NativeLanguage) -> list[NativeSource]:
    return [
        NativeSource(label=f"{argument}[{number}]", language=language, text=text)
        for number, text in enumerate(_texts(value))
    ]


def _texts(value: Any) -> tuple[str, ...]:
    """A string or a list of them as a tuple; none for None."""
    items = () if value is None else (value,) if isinstance(value, str) else tuple(value)
    return tuple(str(item) for item in items)


def _functions(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return {str(name): str(words) for name, words in value.items()}
    return {name: name for name in _texts(value)}


def _checked_name(value: Any) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise ValueError(f"the name of an extension becomes that of a Python module, got {value!r}")
    return value
