"""Routines of cuBLAS on column-major buffers, written in place and returned.

Each module defines one operator and is found by scanning, so the folder has no subfolders.
"""
