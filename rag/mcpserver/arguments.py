"""What the tools take: checked before anything is done, refused in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import UsageError
from rag.index.browse import Filter, filters_of, years_of

_Word = Annotated[str, Field(max_length=300)]


class _Arguments(BaseModel):
    """A year may come as a number: models write both."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The arguments of a call.

        Raises:
            UsageError: one is missing, not known, or out of its range.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            fault = error.errors()[0]
            name = ".".join(map(str, fault["loc"]))
            known = ", ".join(cls.model_fields)
            raise UsageError(
                f"The argument {name} is refused",
                cause=str(fault["msg"]),
                remedy=f"The tool takes {known}.",
            ) from None

    @classmethod
    def schema_of(cls) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return cls.model_json_schema()


class _Filtered(_Arguments):
    year: _Word = Field("", description="Year of the papers: 2020, 2020-2024, 2020- or -2024.")
    venue: _Word = Field("", description="Part of the venue's name.")
    author: _Word = Field("", description="An author's name, or how it begins.")
    source: _Word = Field("", description="Part of the name of the file that a paper came from.")

    def filters(self) -> tuple[Filter, ...]:
        """What papers must have.

        Raises:
            UsageError: the year is none.
        """
        return filters_of(year=self.year, venue=self.venue, author=self.author, source=self.source)


class Ask(_Filtered):
    """Arguments of `ask`."""

    question: str = Field(description="The question, as a person would ask it.")
    conversation: Annotated[str, Field(max_length=100)] = Field(
        "",
        description="A name of your choice. Questions with the same name go on about each other, "
        "so that 'and its size?' is understood; citation numbers go on too.",
    )


class Search(_Filtered):
    """Arguments of `search`."""

    query: str = Field(description="What to look for, in words or as a question.")
    limit: int = Field(10, ge=1, le=100, description="How many papers, at most.")


class Summarize(_Arguments):
    """Arguments of `summarize`."""

    paper: str = Field(
        max_length=1_000,
        description="The paper: its id, file:number, DOI, arXiv id, or name.",
    )


class Papers(_Filtered):
    """Arguments of `papers`."""

    text: _Word = Field("", description="Words that must all stand in title or abstract.")
    limit: int = Field(50, ge=1, le=500, description="How many papers, at most.")
    offset: int = Field(0, ge=0, le=100_000_000, description="How many to pass over before them.")

    def filter(self) -> Filter:
        """The one filter of it all.

        Raises:
            UsageError: the year is none.
        """
        years = years_of(self.year) if self.year else None
        return Filter(years, self.venue, self.author, self.source, self.text)
