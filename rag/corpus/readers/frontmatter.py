"""The YAML between two lines `---` at the head of a Markdown file. Owner of PyYAML.

Every scalar is taken as the text that stands there: as a number, arXiv's 2401.01230 would lose its
last digit and 1e5 would be no key. Aliases are refused, because a few lines of them unfold to
gigabytes; anchors that nothing refers to do no harm.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from rag.corpus.bibliography.fields import ABSTRACT, Fields, fields_of
from rag.corpus.bibliography.values import one_line
from rag.corpus.readers.lines import Line
from rag.corpus.records import Rejected

_OF_TEXT = [*ABSTRACT, "summary"]  # a description or an excerpt is made for a web page
_DEEPEST = 20
_REMEDY = "Write it as `name: value` lines of YAML, or remove it."


def front_matter_of(
    lines: Iterator[Line], most: int
) -> tuple[Fields | Rejected | None, Iterator[Line]]:
    """The front matter, and the lines after it; None and all lines where there is none.

    A rejection says why the front matter cannot be read. One that is not closed within `most`
    characters is none: the file begins with a rule.
    """
    first = next(lines, None)
    if first is None or first.text.rstrip() != "---":
        return None, itertools.chain([first] if first else [], lines)
    held, size = [first], 0
    for line in lines:
        if line.text.rstrip() in ("---", "..."):
            return _parsed("".join(one.text for one in held[1:])), lines
        held.append(line)
        size += len(line.text)
        if size > most:
            break
    return None, itertools.chain(held, lines)


def _parsed(text: str) -> Fields | Rejected:
    import yaml

    source = re.sub(r"\r\n?", "\n", text)  # PyYAML takes a lone CR for a character of the value
    try:
        if refused := _refused(source):
            return refused
        value = yaml.load(source, yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        reason = f"its front matter is not YAML: {one_line(str(problem))}"
        return Rejected(1, mark.line + 2 if mark else 1, reason, _REMEDY)
    if value in (None, ""):
        return fields_of({})
    if not isinstance(value, dict):
        return Rejected(1, 1, "its front matter is no list of names and values", _REMEDY)
    return fields_of(value, _OF_TEXT)


def _refused(source: str) -> Rejected | None:
    """Why `source` is not to be unfolded, if it is not: seen from its events, one by one."""
    import yaml

    depth = 0
    for event in yaml.parse(source, yaml.BaseLoader):
        line = event.start_mark.line + 2
        if isinstance(event, yaml.AliasEvent):
            return Rejected(1, line, "its front matter holds a YAML alias", "Write out the value.")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return Rejected(1, line, "its front matter is nested too deeply", _REMEDY)
    return None
