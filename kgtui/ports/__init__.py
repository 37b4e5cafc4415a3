"""The protocols between screen, runner and store, with the records they exchange.

Pure: no Textual, no process of the engine, no store.
"""
