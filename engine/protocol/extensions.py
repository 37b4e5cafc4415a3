"""Messages about CUDA and C++ that a candidate has compiled: the build request and its result.

Texts and flags are untrusted: they reach only a compiler in a confined process.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec

from engine.model.native import NativeLanguage
from engine.protocol.messages import Command, Count, FilePath, FilePaths, Message, Reply, Text, Word

MOST_SOURCE_CHARACTERS = 1 << 20
"""Of all texts of one extension together, so that a request fits into a line of the wire."""

LIBRARY = "library.so"
"""File name of a built extension, in a folder named by its key."""

MOST_KERNELS_BUILT = 1024
_MOST_SOURCES, _MOST_FLAGS, _MOST_FUNCTIONS = 64, 128, 256

SourceText = Annotated[str, msgspec.Meta(max_length=MOST_SOURCE_CHARACTERS)]
Flags = Annotated[tuple[Text, ...], msgspec.Meta(max_length=_MOST_FLAGS)]


class NativeSource(Message, frozen=True):
    """One text; `label` is its name in messages of the compiler."""

    label: Word
    language: NativeLanguage
    text: SourceText


class ExtensionRequest(Message, frozen=True):
    """An extension as it is requested from torch.utils.cpp_extension.

    `functions` maps names to their documentation, None where the texts define the module themselves.  With `joined`,
    all texts of a language are one unit with torch's headers before it, as in `load_inline`; else each is a file.
    """

    name: Word
    sources: Annotated[tuple[NativeSource, ...], msgspec.Meta(max_length=_MOST_SOURCES)]
    functions: Annotated[dict[Word, Text], msgspec.Meta(max_length=_MOST_FUNCTIONS)] | None = None
    joined: bool = True
    has_headers: bool = True
    handles_errors: bool = True
    with_cuda: bool = False
    cxx_flags: Flags = ()
    cuda_flags: Flags = ()
    link_flags: Flags = ()
    include_folders: FilePaths = ()

    @property
    def key(self) -> str:
        """Key of a build within one engine, whose device and versions do not change: a SHA-256."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


class ExtensionAccess(Message, frozen=True):
    """Folders of built extensions, by key; and why extensions with or without CUDA cannot be built here."""

    folder: FilePath
    no_cuda: Text = ""
    no_cpp: Text = ""


class BuildExtension(Command, tag="build_extension", frozen=True):
    """Build this extension in `folder`; for a child without a candidate.

    It can read libraries, the folders of its compilers, and `readable` only.
    """

    request: ExtensionRequest
    target: Word
    folder: FilePath
    nvcc: FilePath
    cxx: FilePath
    readable: FilePaths = ()


class NativeKernel(Message, frozen=True):
    """ptxas figures of one kernel, by its symbol; None where it does not print them."""

    symbol: Text
    registers: Count | None = None
    spill_bytes: Count | None = None
    shared_bytes: Count | None = None


class ExtensionBuilt(Reply, tag="extension_built", frozen=True):
    """The library as a file name in the command's folder, or "" and the `output` of the tool that failed.

    `cubin` and `sass` are file names there, too, for all kernels of the extension together; "" if missing.
    """

    library: FilePath = ""
    output: Text = ""
    kernels: Annotated[tuple[NativeKernel, ...], msgspec.Meta(max_length=MOST_KERNELS_BUILT)] = ()
    cubin: FilePath = ""
    sass: FilePath = ""
