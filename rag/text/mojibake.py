"""Text that was decoded with the wrong encoding before it came here, such as `naÃ¯ve`."""

from __future__ import annotations

import re

_TAIL = "[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"  # bytes 80 to BF, as Windows-1252 shows them
_SIGN = re.compile(
    rf"[\u00c2-\u00df]{_TAIL}|[\u00e0-\u00ef]{_TAIL}{{2}}|[\u00f0-\u00f4]{_TAIL}{{3}}"
)


def undo_double_encoding(text: str) -> str:
    """`text` with UTF-8 that was read as Windows-1252 or Latin-1 put right, where it is a case.

    ftfy judges, and is loaded (a tenth of a second) only where some letters could be the bytes of
    one UTF-8 character.
    """
    if text.isascii() or not _SIGN.search(text):
        return text
    import ftfy

    return ftfy.fix_encoding(text)
