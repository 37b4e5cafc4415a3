"""One run from source to verdict: its stages, the compile queue and the event stream.

This room knows every other; only `engine.engine` imports it.
"""
