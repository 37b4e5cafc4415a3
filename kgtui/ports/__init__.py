"""The protocols between screen, runner and store, with their records.

Pure: no Textual, no process of the engine, no store.
"""
