"""The rows of the catalog by subject."""
