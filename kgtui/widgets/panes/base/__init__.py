"""The base classes of panes, and the scene that they draw."""
