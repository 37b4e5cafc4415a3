"""Formats and formulas of inference engines, shared by families of the vLLM operators: caches, packings, routing.

Nothing here may import a problem, or torch while it is itself imported.
"""
