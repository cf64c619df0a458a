"""Files that people write: YAML with lines, texts with units, and every mistake told at once."""
