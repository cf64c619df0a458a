"""Text that UTF-8 can encode: file names and foreign errors may hold lone surrogates, which no log can."""


def encodable(text: str, longest: int = 0) -> str:
    """Return the text with a question mark for every character that UTF-8 cannot encode, cut off after `longest` characters if given."""
    if longest and len(text) > longest:
        text = f"{text[:longest]} ... ({len(text)} characters)"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
