"""Kernels from language models: requests to providers, what they cost, and strategies that use the engine's verdicts.

Candidates run through `kgtui.runner` as every other kernel does; nothing that a model answers can change a verdict.
It must never import Textual, screens or the command line, and client libraries only inside functions.
"""
