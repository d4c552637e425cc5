"""Ask questions over paper abstracts, and get answers whose every sentence is supported."""
