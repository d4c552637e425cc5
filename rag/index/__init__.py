"""What papers are found by: the catalog, which is the truth, and what is derived from it."""
