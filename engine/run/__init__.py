"""One run from source to verdict: its stages, the compile queue and the event stream.

This room may import every other one; only `engine.engine` imports it.
"""
