"""Operators of PyTorch's ATen library, under the names and argument orders that PyTorch gives them.

Each module defines one operator and is found by scanning, so the folder has no subfolders.
"""
