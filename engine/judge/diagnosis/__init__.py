"""Why an output is wrong: hypotheses, the number of elements that each one explains, and a sentence for the best."""
