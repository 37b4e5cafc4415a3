"""Operations of torch that a candidate cannot patch, for work in its process outside of timing.

Between timed calls their outputs are copied, and the cache is emptied.  A candidate that had replaced a method of
torch.Tensor, or had installed a torch mode, could do the work of its calls there.  So methods are those of `Base`, the
immutable base class of torch.Tensor, and no mode gets operations under `without_modes`.  A candidate that changes
kgtui's own objects in this process is not prevented here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

Base = torch._C.TensorBase
total = torch.sum

without_functions: Callable[[], AbstractContextManager[None]] = torch._C.DisableTorchFunction
"""Context in which no mode or subclass intercepts functions of torch; operators are still dispatched to modes."""

_no_dispatch = torch._C._DisableTorchDispatch


class _WithoutModes:
    """Two contexts as one.  A class, as calls enter many: a generator takes twice as long."""

    __slots__ = ("_dispatch", "_functions")

    def __enter__(self) -> None:
        self._functions, self._dispatch = without_functions(), _no_dispatch()
        self._functions.__enter__()
        self._dispatch.__enter__()

    def __exit__(self, *error: object) -> None:
        self._dispatch.__exit__(None, None, None)
        self._functions.__exit__(None, None, None)


def without_modes() -> AbstractContextManager[None]:
    """Context in which no mode or subclass intercepts operations of this thread."""
    return _WithoutModes()
