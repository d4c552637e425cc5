"""llama-index as its own guides put it together, with the product's embedding model.

Documents are cut by its default splitter and kept in Chroma with that store's defaults; of the
chunks that are found, each document's best counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from tempfile import TemporaryDirectory

import chromadb
from chromadb.config import Settings as ChromaSettings
from llama_index.core import Document as Text
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.vector_stores.chroma import ChromaVectorStore
from nltk.tokenize import PunktSentenceTokenizer

from evals.collection import Document
from evals.systems import Ranking, best_chunks
from evals.systems.bm25 import Matcher
from rag.answering.parts import embedder_of
from rag.config import Config
from rag.llamaindex import AskPapersEmbedding

_COLLECTION = "peer"


class Dense:
    """`VectorStoreIndex` on `ChromaVectorStore`."""

    def __init__(self, config: Config) -> None:
        self._model = AskPapersEmbedding(embedder_of(config))
        self._folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self._nodes: list[BaseNode] = []
        self._chunks = 1.0  # of a document, on average
        self._index: VectorStoreIndex | None = None

    def index(self, documents: Sequence[Document]) -> None:
        """Split, embed and store."""
        settings = ChromaSettings(_env_file=None, anonymized_telemetry=False)
        client = chromadb.PersistentClient(self._folder.name, settings=settings)
        store = ChromaVectorStore(chroma_collection=client.create_collection(_COLLECTION))
        texts = [Text(text=one.whole, id_=one.id) for one in documents]
        self._nodes = list(_splitter().get_nodes_from_documents(texts))
        self._chunks = len(self._nodes) / len(documents)
        context = StorageContext.from_defaults(vector_store=store)
        self._index = VectorStoreIndex(
            self._nodes, storage_context=context, embed_model=self._model
        )

    def search(self, query: str, k: int) -> Ranking:
        """The documents of the nearest chunks; scores are Chroma's distances as exp(-d)."""
        depth = min(len(self._nodes), math.ceil(k * self._chunks))
        found = self.retriever(depth).retrieve(query)
        return best_chunks([(one.node.ref_doc_id or "", one.score or 0.0) for one in found], k)

    def retriever(self, depth: int) -> BaseRetriever:
        """What finds `depth` chunks."""
        if self._index is None:
            raise RuntimeError("nothing was indexed")
        return self._index.as_retriever(similarity_top_k=depth)

    def close(self) -> None:
        """Remove the folder."""
        self._index = None
        self._folder.cleanup()


class Fusion(Dense):
    """`QueryFusionRetriever` by reciprocal ranks over the same and BM25, one query for each."""

    def index(self, documents: Sequence[Document]) -> None:
        """The same, and count the terms of the chunks."""
        super().index(documents)
        texts = [node.get_content(MetadataMode.EMBED) for node in self._nodes]
        self._matcher = Matcher(texts)

    def retriever(self, depth: int) -> BaseRetriever:
        """What finds chunks in two ways, `depth` in each."""
        return QueryFusionRetriever(
            [_Lexical(self._nodes, self._matcher, depth), super().retriever(depth)],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            similarity_top_k=depth,
            num_queries=1,
            use_async=False,
        )


def _splitter() -> SentenceSplitter:
    """The default splitter, with its own tokenizer of sentences made here.

    Where llama-index makes it, on the way it also reads a list of stop words, which NLTK refuses if
    the file has several names, as in an environment that uv has linked together.
    """
    punkt = PunktSentenceTokenizer()
    return SentenceSplitter(
        chunking_tokenizer_fn=lambda text: split_by_sentence_tokenizer_internal(text, punkt)
    )


class _Lexical(BaseRetriever):
    """What llama-index-retrievers-bm25 does; see `Matcher` for why it is not that package."""

    def __init__(self, nodes: Sequence[BaseNode], matcher: Matcher, depth: int) -> None:
        super().__init__()
        self._nodes = nodes
        self._matcher = matcher
        self._depth = depth

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._matcher.best(query_bundle.query_str, self._depth)
        return [NodeWithScore(node=self._nodes[place], score=score) for place, score in found]
