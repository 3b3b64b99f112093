"""Everything that a pipeline remembers as the tree of a checkpoint, and back."""
