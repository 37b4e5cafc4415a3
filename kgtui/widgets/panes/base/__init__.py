"""Parts that the panes share: the base classes and the scene that they draw."""
