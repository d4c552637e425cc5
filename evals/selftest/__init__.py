"""Whether the measures see what they are to see: known damage, and how far each figure moves."""
