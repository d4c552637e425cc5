"""The llama-index faces, inside llama-index's own engines."""

from __future__ import annotations

from pathlib import Path

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from rag.answering.assistant import Assistant
from rag.answering.parts import embedder_of
from rag.config import Config
from rag.llamaindex import AskPapersEmbedding, AskPapersQueryEngine, AskPapersRetriever

QUESTION = "Over which part of the image does RN-DPO normalize the likelihood ratio?"


def test_the_retriever_feeds_a_llama_index_query_engine(assistant: Assistant) -> None:
    engine = RetrieverQueryEngine.from_args(AskPapersRetriever(assistant, limit=3), llm=MockLLM())
    response = engine.query(QUESTION)
    first = response.source_nodes[0]
    assert first.node.metadata["title"] == "RN-DPO"
    assert first.node.metadata["ordinal"] == 7
    assert any("disagreement region" in text for text in first.node.metadata["evidence"])
    assert len(response.source_nodes) == 3
    assert "disagreement region" in str(response)  # MockLLM echoes the prompt it was given


def test_the_assistant_is_a_query_engine(assistant: Assistant) -> None:
    response = AskPapersQueryEngine(assistant=assistant).query(QUESTION)
    assert "disagreement region" in str(response)
    source = response.source_nodes[0].node
    assert isinstance(source, TextNode)
    file = Path("seeds", Path(str(source.metadata["source"])).name).read_text(encoding="utf-8")
    assert source.text in file
    assert (response.metadata or {})["status"] == "answered"


def test_the_embedder_serves_a_llama_index_index(seeds_config: Config) -> None:
    nodes = [
        TextNode(text="The cat sat on the mat."),
        TextNode(text="Interest rates rose by two points."),
    ]
    index = VectorStoreIndex(nodes, embed_model=AskPapersEmbedding(embedder_of(seeds_config)))
    hits = index.as_retriever(similarity_top_k=1).retrieve("a kitten on a rug")
    assert hits[0].node.get_content() == "The cat sat on the mat."
