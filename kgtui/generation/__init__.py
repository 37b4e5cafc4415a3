"""Kernels from language models: requests to providers, their costs, and strategies that use the engine's verdicts.

Candidates run through `kgtui.runner` like every other kernel; no answer of a model can change a verdict. It must never
import Textual, screens or the command line, and client libraries only inside functions.
"""
