"""The embedder, the search and the assistant as llama-index components.

    from rag import Assistant, load
    from rag.llamaindex import AskPapersQueryEngine

    engine = AskPapersQueryEngine(assistant=Assistant.from_config(load().config))
    print(engine.query("What does RN-DPO normalize?"))

Importing this module imports llama-index, which takes a second or more; nothing else here does.
llama-index's global `Settings` is neither read nor set.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import ConfigDict, PrivateAttr

from rag.answering.assistant import Assistant
from rag.index.embedding import Embedder
from rag.schema import Citation, Hit, Paper

__all__ = ["AskPapersEmbedding", "AskPapersQueryEngine", "AskPapersRetriever"]


class AskPapersEmbedding(BaseEmbedding):
    """The product's embedding model for llama-index's own indexes. Vectors have length 1."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, **settings: Any) -> None:
        super().__init__(model_name=embedder.name, **settings)
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """The name under which llama-index files it."""
        return "AskPapersEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        vectors: list[Embedding] = self._embedder.embed(texts).tolist()
        return vectors


class AskPapersRetriever(BaseRetriever):
    """The product's search: one node for each paper, its evidence in the metadata."""

    def __init__(self, assistant: Assistant, limit: int = 10) -> None:
        super().__init__()
        self._assistant = assistant
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._assistant.search(query_bundle.query_str, self._limit)
        return [_hit_node(hit) for hit in found.hits]


class AskPapersQueryEngine(CustomQueryEngine):
    """The assistant: an answer whose source nodes are the sentences that it cites."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    assistant: Assistant

    def custom_query(self, query_str: str) -> Response:
        """Answer a question; status, claims and manifest are in the response's metadata."""
        answer = self.assistant.answer(query_str)
        nodes = [node for citation in answer.citations for node in _sentence_nodes(citation)]
        metadata = {
            "status": answer.status,
            "claims": [(claim.text, claim.citations, claim.verdict) for claim in answer.claims],
            "manifest": dict(answer.manifest),
        }
        return Response(response=answer.text, source_nodes=nodes, metadata=metadata)


def _hit_node(hit: Hit) -> NodeWithScore:
    metadata = {**_head(hit.paper), "evidence": [item.text for item in hit.evidence]}
    node = TextNode(id_=hit.paper.id, text=hit.paper.text, metadata=metadata)
    node.excluded_llm_metadata_keys = list(metadata)
    return NodeWithScore(node=node, score=hit.score)


def _sentence_nodes(citation: Citation) -> list[NodeWithScore]:
    head = {**_head(citation.paper), "number": citation.number}
    return [
        NodeWithScore(
            node=TextNode(
                id_=f"{citation.paper.id}:{sentence.start}",
                text=sentence.text,
                start_char_idx=sentence.start,
                end_char_idx=sentence.end,
                metadata=head,
            ),
            score=1.0,
        )
        for sentence in citation.sentences
    ]


def _head(paper: Paper) -> dict[str, object]:
    return {
        "paper_id": paper.id,
        "source": paper.source,
        "ordinal": paper.ordinal,
        "title": paper.title,
    }
