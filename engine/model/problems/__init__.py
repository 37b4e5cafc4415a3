"""Problems: cases, categories, tolerances and costs, and the definition of a problem as code.

Imports nothing of the engine but `engine.model.parsing`, and no torch.
"""
