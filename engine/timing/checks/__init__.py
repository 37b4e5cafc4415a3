"""What a benchmark's numbers contradict: findings from raw times.  Pure; imports no process code."""
