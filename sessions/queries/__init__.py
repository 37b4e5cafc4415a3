"""Reading runs, benchmarks and findings from the store.  Never writes."""
