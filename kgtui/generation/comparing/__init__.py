"""Models compared: cells, metrics with intervals, paired tests, estimates; pure functions of stored generations."""
