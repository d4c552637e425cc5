"""How well it is known whether the collection answers a question, and fitting that."""
