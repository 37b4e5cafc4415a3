"""Builds CUDA and C++ extensions with the machine's own compilers, for a process that has loaded no candidate.

The commands are those that torch.utils.cpp_extension gives to ninja, without ninja: an extension has only a few units.
`tools` is the only module that calls a compiler, so that tests can replace it.
"""

from engine.compiler.native.build import build

__all__ = ["build"]
