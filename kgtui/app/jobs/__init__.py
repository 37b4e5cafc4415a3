"""What the application runs: the open file, grids, batches and the runs of agents, with what becomes known of them."""
