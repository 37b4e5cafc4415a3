"""What the panes have in common: the base classes and the scene that they draw."""
