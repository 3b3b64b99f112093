"""Pure functions from integer counts to numbers, batched in torch."""
