"""Problems: cases, categories, tolerances and costs, and its definition as code.

Imports nothing of the engine but `engine.model.parsing`, and no torch.
"""
