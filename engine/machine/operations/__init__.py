"""The operations that the machine executes: one module per family, found by scanning this package."""
