"""One module for each format, and what several of them share."""
