"""How people ask whether they speak with a person, a module for each language."""
