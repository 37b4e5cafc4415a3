"""Providers of language models: one module each, found by scanning, imported when used.

A provider module defines `NAME` (what is typed before the colon of a model), `KEY_VARIABLE` (the environment variable
of its key, empty for none) and `open_provider(model, environment)`.  Keys are read only from the environment of this
process; they are never stored, logged or shown.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncGenerator, Mapping
from typing import Protocol

from engine.errors import EngineError, UsageError
from kgtui.generation.records import Chunk, CompletionRequest, ModelName

_REQUIRED = ("NAME", "KEY_VARIABLE", "open_provider")
_SHARED = "kit"


class Provider(Protocol):
    """A connected service."""

    def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        """The answer piece by piece, closed by one AnswerEnded; closing the generator cancels the request.

        Raises:
            ProviderError: there was no answer, or it broke off.
        """

    async def aclose(self) -> None:
        """Close its connections."""


class ProviderModule(Protocol):
    """Interface of every provider module."""

    NAME: str
    KEY_VARIABLE: str

    def open_provider(self, model: ModelName, environment: Mapping[str, str]) -> Provider:
        """A provider for this model.

        Raises:
            UsageError: its key is not set, or its client library is not installed.
        """
        ...


def provider_names() -> tuple[str, ...]:
    """The names of all providers, in alphabetical order; imports none of them."""
    entries = pkgutil.iter_modules(importlib.import_module(__name__).__path__)
    return tuple(sorted(entry.name for entry in entries if entry.name != _SHARED))


def provider_module(name: str) -> ProviderModule:
    """The module of the provider called `name`.

    Raises:
        UsageError: there is none.
        EngineError: its file does not define what a provider must define.
    """
    if name not in provider_names():
        raise UsageError(f"unknown provider {name[:40]!r}; use one of {', '.join(provider_names())}")
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [required for required in _REQUIRED if not hasattr(module, required)]
    if missing:
        raise EngineError(f"kgtui/generation/providers/{name}.py does not define {', '.join(missing)}")
    found: ProviderModule = module
    return found


def open_provider(model: ModelName, environment: Mapping[str, str]) -> Provider:
    """A connected provider for this model.  Raises as `provider_module` and its `open_provider` do."""
    return provider_module(model.provider).open_provider(model, environment)
