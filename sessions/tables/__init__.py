"""The tables of the store, as numbered migrations.  Imports nothing else of the store."""
