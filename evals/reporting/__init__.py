"""What a run found, for people: in the terminal, as HTML, as Markdown, as CSV."""
