"""Jobs of the application: the open file, grids, batches and the runs of agents, with their results."""
