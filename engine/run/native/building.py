"""Builds a candidate's extensions while it is loaded or called, and reports on each."""

from __future__ import annotations

from collections.abc import Sequence

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.errors import EngineError
from engine.model import Artefact, Candidate, CompiledKernel, Launch, Location, Outcome, Stream, events
from engine.model.native import Extension, NativeLanguage, NativeText
from engine.processes.builds.extensions import ExtensionBuild, Extensions
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.native.diagnostics import CompilerError, first_error
from engine.static.native.code import kernels_of, namespaces_of
from engine.verdict.decide import Stop
from engine.verdict.native_symbols import NativeKernels

NOTE = (
    "this file runs native code: it shares the memory of the process that calls it, so its launches are neither "
    "replayed nor suppressed, and it cannot be proven that no host code computes an answer"
)
"""Note of a run on every candidate with an extension, independent of the findings."""

_MOST_BUILDS = 16


class NativeCode:
    """The extensions of one run; `extensions` builds them, `read` takes those found in the syntax tree."""

    def __init__(
        self, *, candidate: Candidate, target: str | None, extensions: Extensions, artefacts: ArtefactStore,
        emitter: EventEmitter, profile: Profile,
    ) -> None:  # fmt: skip
        self._candidate = candidate
        self._target = target
        self._extensions = extensions
        self._artefacts = artefacts
        self._emitter = emitter
        self._profile = profile
        self._read: tuple[Extension, ...] = ()
        self._asked: set[str] = set()
        self.kernels = NativeKernels()
        """The kernels that the texts of all extensions define."""
        self.compiled: list[CompiledKernel] = []

    @property
    def is_there(self) -> bool:
        """Whether the file compiles native code, by its text or by its requests."""
        return bool(self._read or self._asked)

    def read(self, extensions: Sequence[Extension]) -> None:
        """Take the result of the static layer, and report how native code affects the inspection."""
        self._read = tuple(extensions)
        for extension in self._read:
            self.kernels |= _kernels_in([(text.language, text.text) for text in extension.texts])
        if self._read:
            self._emitter.note("native_code", NOTE)

    async def build(self, request: protocol.ExtensionRequest) -> Stop | None:
        """Build an extension that the worker lacks; None if it was built, else why that stops the run."""
        if not self.is_there:
            self._emitter.note("native_code", NOTE)
        refusal = self._extensions.refusal(with_cuda=request.with_cuda)
        if refusal or request.key in self._asked or len(self._asked) >= _MOST_BUILDS:
            why = refusal or f"the file requests it twice, or requests more than {_MOST_BUILDS} extensions"
            message = f"extension {request.name!r} could not be built here: {why}"
            return Stop(outcome=Outcome.UNSUPPORTED, message=message)
        self._asked.add(request.key)
        self.kernels |= _kernels_in([(source.language, source.text) for source in request.sources])
        with self._profile.span("build extension") as span:
            try:
                build = await self._extensions.build(request, self._candidate.folder)
            except EngineError as error:
                return Stop(outcome=Outcome.ENGINE_ERROR, message=str(error))
            except OSError as error:
                message = f"the built extension could not be stored: {error.strerror or error}; free some space"
                return Stop(outcome=Outcome.ENGINE_ERROR, message=message)
        if build.output:
            self._emitter.log(Stream.STDERR, f"{build.output}\n")
        if not build.is_built:
            return self._refused(request, first_error(build.output))
        self._emit_kernels(request, build, span.elapsed_s)
        return None

    def _refused(self, request: protocol.ExtensionRequest, error: CompilerError) -> Stop:
        """The end of a run whose text a compiler refused, with its location in the file if known."""
        if error.missing:
            message = f"extension {request.name!r} could not be built here: header {error.missing} is not installed"
            return Stop(outcome=Outcome.UNSUPPORTED, message=message)
        where, location = "", None
        if error.label is not None and error.line is not None:
            column = f", column {error.column}" if error.column is not None else ""
            where = f" ({error.label}, line {error.line}{column})"
            location = self._place(request, error)
        more = f"; {error.more} more errors in the log" if error.more else ""
        message = f"extension {request.name!r} does not compile: {error.message}{where}{more}"
        return Stop(outcome=Outcome.COMPILE_ERROR, message=message, location=location)

    def _place(self, request: protocol.ExtensionRequest, error: CompilerError) -> Location | None:
        """The location in the file, if the syntax tree has the compiled text."""
        text = self._text_of(request, error.label)
        return text.location_of(error.line or 1, error.column) if text is not None else self._call_of(request)

    def _text_of(self, request: protocol.ExtensionRequest, label: str | None) -> NativeText | None:
        compiled = next((source for source in request.sources if source.label == label), None)
        texts = (text for extension in self._read for text in extension.texts)
        return next((text for text in texts if compiled is not None and text.text == compiled.text), None)

    def _call_of(self, request: protocol.ExtensionRequest) -> Location | None:
        call = next((extension for extension in self._read if extension.name == request.name), None)
        return Location(line=call.line) if call is not None else None

    def _emit_kernels(self, request: protocol.ExtensionRequest, build: ExtensionBuild, elapsed_s: float) -> None:
        """One event for each kernel: the figures of ptxas, and the code of the whole extension."""
        artefacts = tuple(self._kept(build))
        for kernel in build.kernels:
            compiled = CompiledKernel(
                launch=self._launch(request, kernel.symbol),
                target=self._target or "",
                outcome=Outcome.PASS,
                elapsed_s=elapsed_s,
                registers=kernel.registers,
                spill_bytes=kernel.spill_bytes,
                shared_bytes=kernel.shared_bytes,
                artefacts=artefacts,
            )
            self.compiled.append(compiled)
            number = len(self.compiled)
            self._emitter.emit(
                events.KernelCompiled(at_s=self._emitter.now(), number=number, total=number, kernel=compiled)
            )

    def _launch(self, request: protocol.ExtensionRequest, symbol: str) -> Launch:
        """A launch record for a kernel that has not been launched yet, so its arguments are unknown."""
        name = self.kernels.name_of(symbol) or symbol
        place = self._call_of(request)
        for source in request.sources:
            for defined in kernels_of(source.text):
                text = self._text_of(request, source.label)
                if defined.name == name and text is not None:
                    place = text.at(defined.offset)
        return Launch(
            kernel=name, signature={}, constants={}, divisible_by_16=(), num_warps=0, num_stages=0, grid=(),
            line=place.line if place is not None else 1, options={"symbol": symbol},
        )  # fmt: skip

    def _kept(self, build: ExtensionBuild) -> list[Artefact]:
        try:
            kinds = (("cubin", build.cubin), ("sass", build.sass))
            return [self._artefacts.put(kind, content) for kind, content in kinds if content]
        except OSError as error:
            message = f"compiled code could not be stored: {error.strerror or error}; free some space"
            self._emitter.note("artefacts", message)
            return []


def _kernels_in(texts: Sequence[tuple[NativeLanguage, str]]) -> NativeKernels:
    found = NativeKernels()
    for language, text in texts:
        if language is NativeLanguage.CUDA:
            defined = tuple(kernels_of(text))
            found |= NativeKernels(
                names=frozenset(kernel.name for kernel in defined if not kernel.is_extern_c),
                plain=frozenset(kernel.name for kernel in defined if kernel.is_extern_c),
                namespaces=namespaces_of(text),
            )
    return found
