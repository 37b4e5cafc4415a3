"""Custom operators of the vLLM inference engine; most of them write to their arguments.

Each module defines one operator and is found by scanning, so the folder has no subfolders.
"""
