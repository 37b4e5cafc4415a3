"""Formats and formulas of inference engines, shared by families of the vLLM operators: caches, packings, routing.

Nothing here may import a problem; importing this package must not import torch.
"""
