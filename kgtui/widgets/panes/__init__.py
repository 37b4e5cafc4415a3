"""The tabs of the workbench, one pane per module."""
