"""What is remembered of each model version: held events, cumulative counts, clocks and offsets."""
