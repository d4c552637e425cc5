"""How well the check of claims tells true ones from damaged ones."""
