"""From a question to papers, and to the sentences in them that would answer it."""
