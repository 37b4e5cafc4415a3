"""The judge in a benchmark: slots with new inputs, checks of timed calls' outputs, baselines, and peaks."""
