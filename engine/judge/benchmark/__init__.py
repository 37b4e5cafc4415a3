"""The judge in a benchmark: slots of fresh inputs, checks of what timed calls left, baselines, and peaks."""
