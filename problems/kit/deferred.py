"""A stand-in for torch that imports it on the first use of an attribute.

Importing torch takes seconds and may open a device context; listing or searching the catalogue must not cost this.  The
stand-in never enters `sys.modules`, which therefore still shows whether the real torch was loaded.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING


class DeferredModule(ModuleType):
    """Proxy of the module `name`, which is imported on the first access to an attribute."""

    def __getattr__(self, attribute: str) -> object:
        # Test collectors and debuggers look up names such as __wrapped__ on every global; that must not import torch.
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(f"{self.__name__} is deferred and has no {attribute} yet")
        module = sys.modules.get(self.__name__) or importlib.import_module(self.__name__)
        return getattr(module, attribute)


if TYPE_CHECKING:
    import torch as torch
else:
    torch = DeferredModule("torch", "torch, imported on first use")
