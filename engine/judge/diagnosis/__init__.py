"""Why an output is wrong: hypotheses, how many elements each one explains, and the sentence for the best."""
