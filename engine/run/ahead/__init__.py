"""What a run does before a case needs it: kernels are compiled, or lowered, while other cases run.

Imports nothing of `stages` or `proving`.
"""
