"""Building CUDA and C++ extensions with the machine's own compilers, for a process that has loaded no candidate.

The commands are those that torch.utils.cpp_extension gives to ninja, without ninja: an extension has a handful of
units.  `tools` is the one place where a compiler is called, so that tests put another in its place.
"""

from engine.compiler.native.build import build

__all__ = ["build"]
