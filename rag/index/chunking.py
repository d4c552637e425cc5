"""Windows of whole sentences: what is embedded.

By default a chunk is one sentence. On SciFact train a paper is found as well by its best sentence
as by its best window of three (nDCG@10 .680 and .680, recall@100 .944 and .938), a
sentence's vector is also what evidence is chosen by, and each word is embedded once.

A paper's own title is one more chunk, behind the others and of no place in the text: it says in few
words what the abstract as a whole is about. One that was made from the abstract says nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag.schema import Chunk, Paper, Sentence

OVERLAP = 1


def chunk(
    paper: Paper,
    *,
    sentences: int,
    word_pieces: int,
    count_pieces: Callable[[str], int],
    title: bool = False,
) -> list[Chunk]:
    """Cut a paper into chunks of up to `sentences` sentences and `word_pieces` word pieces.

    Where a chunk holds several sentences, neighbours share one, so that what is said across two
    sentences stands together in some chunk. A sentence that is longer than `word_pieces` is a
    chunk by itself. With `title` the paper's own title follows, if it has one.
    """
    sizes = [count_pieces(s.text) for s in paper.sentences] if sentences > 1 else []
    windows = _windows(sizes, sentences, word_pieces) if sizes else _singles(len(paper.sentences))
    chunks = [_chunk(paper, ordinal, first, last) for ordinal, (first, last) in enumerate(windows)]
    if title and not paper.title_derived and paper.title.strip():
        chunks.append(Chunk(f"{paper.id}#title", paper.id, 0, 0, paper.title))
    return chunks


def spread(paper: Paper, chunks: Sequence[Chunk], scores: Sequence[float]) -> list[float]:
    """The score of each sentence of `paper`: that of the best chunk that holds it.

    The title's holds none. Chunks of one sentence each need no comparing.
    """
    alone = list(zip(chunks, paper.sentences, strict=False))
    if len(alone) == len(paper.sentences) and all(
        piece.start == sentence.start and piece.end == sentence.end for piece, sentence in alone
    ):
        return list(scores[: len(alone)])
    return [
        max(
            score
            for piece, score in zip(chunks, scores, strict=True)
            if piece.start <= sentence.start and sentence.end <= piece.end
        )
        for sentence in paper.sentences
    ]


def _singles(count: int) -> Iterator[tuple[int, int]]:
    return ((index, index) for index in range(count))


def _windows(sizes: list[int], most: int, budget: int) -> Iterator[tuple[int, int]]:
    """First and last sentence of each window, for sentences of the given sizes."""
    first = 0
    while first < len(sizes):
        last = first
        while _fits(sizes[first : last + 2], last + 2 - first, most, budget) and last + 1 < len(
            sizes
        ):
            last += 1
        yield first, last
        if last + 1 == len(sizes):
            return
        first = max(first + 1, last + 1 - OVERLAP)


def _fits(sizes: list[int], count: int, most: int, budget: int) -> bool:
    return count <= most and sum(sizes) <= budget


def _chunk(paper: Paper, ordinal: int, first: int, last: int) -> Chunk:
    sentences: tuple[Sentence, ...] = paper.sentences[first : last + 1]
    start, end = sentences[0].start, sentences[-1].end
    return Chunk(f"{paper.id}#{ordinal}", paper.id, start, end, paper.text[start:end])
