"""Modules that a candidate replaced, so that a later import gets the replacement.

Only modules imported before the candidate are compared: modules that it adds are its own, and removed ones are imported
again by others.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from engine.protocol.monitoring import ChangeKind, ChangeSeen

_MOST_NAMED = 16
_REPLACED_BY_TRITON = frozenset({"__triton_launcher", "cuda_utils", "hip_utils"})  # by Triton, for each launcher


def modules() -> Mapping[str, ModuleType]:
    """Current modules by name."""
    return dict(sys.modules)


def changes(before: Mapping[str, ModuleType]) -> tuple[ChangeSeen, ...]:
    """The names that refer to another module now."""
    replaced = [
        name
        for name, old in before.items()
        if name in sys.modules and sys.modules[name] is not old and name not in _REPLACED_BY_TRITON
    ]
    return tuple(
        ChangeSeen(kind=ChangeKind.FUNCTION, name=f"sys.modules[{name}]"[:200], detail="another module")
        for name in replaced[:_MOST_NAMED]
    )
