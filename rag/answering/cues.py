"""By what words an abstract says what a column of a table asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column under the reader's own `name`; `description` is what a model reads and is embedded.

    A sentence with a word of `strong` says it, one of `weak` may. `value` finds the words that are
    the cell in such a sentence, in its group `v`. `late` is what standing at the end of an abstract
    adds, negative where it is said at the beginning. `own`: what is said of earlier work does not
    count. `always`: every abstract says it somewhere. `known` is false for a column that only its
    name describes.
    """

    name: str
    description: str
    strong: re.Pattern[str] = _NEVER
    weak: re.Pattern[str] = _NEVER
    value: re.Pattern[str] = _NEVER
    late: float = 0.0
    own: bool = True
    always: bool = False
    known: bool = field(default=True, compare=False)


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)


_PROPOSES = r"(?:propose|introduce|present|develop|design|formulate|devise|promote)"
_END = (
    r"(?=,? (?:which|that|to|where|for|based on|by|enabling|capable|whose|as|tailored|designed|"
    r"and (?:show|provide|establish|prove|find|derive|study|demonstrate)|, and )\b|;"
    r"|:(?! [A-Z$*])|\.?$)"
)
_COUNTED = r"(?:tasks|benchmarks|datasets|environments|domains|models|games|corpora|settings)"
_AMOUNT = r"\d[\d.,]*"
_COUNT = rf"(?:{_AMOUNT}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_NAMED = r"(?-i:(?=[\w·-]{4})(?:\w+-)?[A-Z]\w*[A-Z0-9][\w·-]*)"

KNOWN: Mapping[str, Column] = {
    "method": Column(
        "method",
        "the method, model, framework or algorithm that the paper proposes or studies",
        _words(
            rf"we\b[^,;]{{0,100}}?\b{_PROPOSES}\b|this (?:paper|work)\b.{{0,30}}?\b{_PROPOSES}s?\b"
            r"|address (?:\w+ ){1,3}with"
        ),
        _words(
            r"is an? (?:[\w-]+ ){0,6}(?:method|framework|model|algorithm|approach|system|retriever)"
            r"|our (?:method|approach|framework|formulation)|this (?:paper|work) shows"
            r"|we (?:\w+ )?(?:prove|analy[sz]e"
            r"|study|evaluate|recover|formalize|adopt|derive|define)|named|called|dubbed|employs|uses"
        ),
        re.compile(rf"\b{_PROPOSES}s?,? (?P<v>.{{3,}}?){_END}|\bis (?P<w>an? .{{3,}}?){_END}"),
        late=-0.2,
        always=True,
    ),
    "dataset": Column(
        "dataset",
        "the datasets, benchmarks or environments on which it is evaluated",
        _words(
            r"(?<!\bacross )(?<!\bmultiple )(?<!\ball )(?:benchmarks?|datasets?|corpus|corpora)"
            r"|test ?sets?|test-?beds?"
            rf"|{_COUNT} (?:[\w-]+ ){{0,2}}{_COUNTED}|(?:on|across) (?:[\w-]+ ){{0,2}}{_NAMED}"
        ),
        _words(
            rf"(?:experiments?|evaluat\w+|results|validat\w+|tested) (?:\w+ )?(?:on|across|over|in)"
            rf"|{_AMOUNT} (?:\w+ ){{0,2}}{_COUNTED}"
        ),
        re.compile(
            rf"\b(?i:on|across|over) (?P<v>(?:the )?{_NAMED}(?:(?:, {_NAMED})*,? and {_NAMED})?"
            r"(?: (?:benchmarks?|datasets?))?)"
            r"|\b(?i:on|across|over|using) (?P<w>(?:[\w.-]+ ){1,5}?(?:benchmarks?|datasets?)\b"
            rf"(?: of .{{3,80}}?(?=[,;]|$))?)|(?i:across|on|over) (?P<x>{_COUNT}"
            rf" (?:[\w-]+ ){{0,2}}{_COUNTED})"
        ),
        late=0.1,
    ),
    "tasks": Column(
        "tasks",
        "how many tasks, and which, it is evaluated on",
        _words(rf"{_AMOUNT} (?:[\w-]+ ){{0,3}}tasks|tasks?"),
        _words(rf"(?:{_AMOUNT}|across|on) (?:[\w-]+ ){{0,3}}{_COUNTED}"),
        re.compile(rf"(?P<v>{_AMOUNT} (?:[\w-]+ ){{0,3}}(?:tasks|{_COUNTED}))"),
        late=0.1,
    ),
    "metric": Column(
        "metric",
        "the metric by which quality is measured, such as accuracy or success rate",
        _words(
            r"(?-i:[A-Z]{2,6}) \d+\.\d|\d+(?:\.\d+)?\\?%? (?:[\w-]+ )?(?-i:[A-Z]{3,6})\b"
            r"|accurac\w+|acc\b|f1|auroc|auc\b|rank-1|recall\b|(?<!point )(?<!-)precision|ndcg|bleu"
            r"|rouge|miou|fid\b|ssim|lpips|psnr|perplexity|success[- ]rates?|pass@\w+"
            r"|(?:mean|average|cumulative|highest) (?:\w+ )?(?:rewards?|returns?)|sample efficiency"
            r"|correctness|completeness|latency|throughput|time complexity|complexity bounds?"
            r"|error rates?|excess risk|wall(?:-clock)? time|win rates?|t?flops"
            r"|(?:reconstruction|prediction|generation|image|sample) (?:quality|scores?)|regret\b"
            r"|(?:training|data|parameter) efficiency|(?:recovery|compute|detection) costs?"
            r"|detection performance"
        ),
        _words(r"metrics?|scores?|points?|measured (?:by|in)|rates?"),
        late=0.3,
    ),
    "result": Column(
        "result",
        "the main result, with its numbers",
        _words(
            rf"{_AMOUNT}\s?(?:\\?%|\$?\\times|×|points|pp\b|percent)"
            r"|outperform\w*|surpass\w*|improv(?:es?|ed|ing|ements?)|achiev(?:es?|ed|ing)"
            r"|reduc(?:es?|ed|ing)|state-of-the-art|superior|matches|match or"
            r"|we (?:\w+ )?(?:find|prove)|(?:prove|establish|guarantee) (?:that|the|to)"
            r"|derives?\b|guarantees?|converges?"
        ),
        _words(
            r"experiment\w*|results?|evaluations?|empirical\w*|consistently|competitive|higher"
            r"|reach(?:es|ing)?|rais(?:es|ing)|we find|robust"
        ),
        late=0.4,
    ),
    "baseline": Column(
        "baseline",
        "the baselines or earlier methods with which it is compared",
        _words(
            r"baselines?|vanilla|compar(?:ed|ing) (?:to|with|against)|outperform\w*"
            r"|improves? over|surpass\w*|than (?:prior|existing|previous|both|deep)|versus"
        ),
        _words(r"state-of-the-art|prior|existing|against|alternatives"),
        re.compile(
            r"\b(?:over|outperforms?|than|surpass(?:es)?|with|against|to) (?:the )?(?P<v>"
            r"(?:[\w-]+ ){1,5}?(?:baselines?|methods|approaches|alternatives|variants))\b"
        ),
        late=0.3,
    ),
    "problem": Column(
        "problem",
        "the problem or task that the paper takes on",
        _words(
            r"challeng(?:e|es|ing)|problem(?:s|atic)?|fail(?:s|ure)?|limited by|bottleneck\w*"
            r"|suffer\w*|lacks?|costly|unclear|unsolved|remains?|ignores?"
        ),
        _words(r"however|yet|critical|difficult|task of|aims? to|crucial|important"),
        late=-0.5,
        own=False,
        always=True,
    ),
    "limitation": Column(
        "limitation",
        "a limitation, cost or open problem of the paper's own method",
        _words(
            r"(?:a|one|main|its|our) (?:\w+ )?(?:limitation|failure mode|drawback)"
            r"|at the (?:cost|expense) of|future work|additional (?:latency|cost|memory)"
            r"|but (?:it |they )?(?:needs?|requires?)|(?:it|method|we|model) do(?:es)? not improve"
            r"|not equivalent|vanish(?:es)? for|regressions|fixates"
            r"|(?:remains|is) (?:limited|restricted) to"
        ),
        _words(r"however|but|only|still|limited to|depends? on|trade-?offs?"),
        late=0.3,
    ),
    "code": Column(
        "code",
        "where code, data or models are available",
        _words(
            r"code\b.{0,60}\b(?:available|released?|open|public|accessible|accessed|provided)\b|github"
            r"|project page|(?:provide|share|publish|release)s? (?:\w+ ){0,3}code\b"
            r"|(?:we|will) (?:\w+ )?(?:release|open-?source)|(?:dataset|models?)\b.{0,40}"
            r"\b(?:released|available)|https?:"
        ),
        late=0.2,
    ),
    "size": Column(
        "size",
        "the size of the model, its parameters",
        re.compile(
            rf"\b{_AMOUNT}\s?(?:[MBT]|[mb]illion|trillion)\b(?!-image)[ -]?(?:param\w*|model|\w*)"
        ),
        _words(r"parameters|(?:large|small)[- ]scale"),
        re.compile(
            rf"\b(?P<v>{_AMOUNT}\s?(?:[MBT]|[mb]illion|trillion)\b"
            r"(?:[ -]parameters?\b(?: model)?)?)"
        ),
    ),
    "hardware": Column(
        "hardware",
        "the hardware that it runs on or needs",
        _words(r"gpus?\b|cpus?\b|tpus?\b|fpgas?\b|hardware|tensor ?cores?|[ah]100s?\b"),
        _words(r"devices?|edge|on-device|memory"),
    ),
    "theory": Column(
        "theory",
        "what is proved: guarantees, bounds, convergence",
        _words(
            r"prove[sdn]?|proofs?|theorems?|guarantees?"
            r"|(?:lower|upper|complexity|stability|error) bounds?|converge(?:s|nce)|derives?\b"
            r"|theoretical(?:ly)?"
        ),
        _words(r"theory|bounds?|optimal(?:ity)?|consistency|formaliz\w+"),
    ),
    "type": Column(
        "type",
        "what kind of thing it is",
        re.compile(r"\b[A-Z]\w+ is (?:an?|the) |\b(?i:framework|algorithm|method|benchmark)\b"),
        _words(r"is an? |model|system|approach"),
        re.compile(rf"\bis an? (?P<v>.{{3,}}?){_END}|, an? (?P<w>[\w -]{{3,}}?)(?=,| that| which)"),
        late=-0.3,
    ),
}

SYNONYMS = {
    **{name: name for name in KNOWN},
    **dict.fromkeys(("approach", "model", "technique", "algorithm", "proposal"), "method"),
    **dict.fromkeys(("benchmark", "data", "corpus", "environment", "testbed"), "dataset"),
    **dict.fromkeys(("measure", "evaluation metric"), "metric"),
    **dict.fromkeys(("number", "finding", "performance", "outcome", "gain"), "result"),
    **dict.fromkeys(("compared with", "comparison", "competitor"), "baseline"),
    **dict.fromkeys(("task", "challenge", "goal", "motivation"), "problem"),
    **dict.fromkeys(("weakness", "drawback", "cost", "caveat"), "limitation"),
    **dict.fromkeys(("availability", "code availability", "repository"), "code"),
    **dict.fromkeys(("parameter", "model size", "scale"), "size"),
    **dict.fromkeys(("device", "compute"), "hardware"),
    **dict.fromkeys(("guarantee", "proof", "bound"), "theory"),
    **dict.fromkeys(("kind", "category"), "type"),
    "tasks": "tasks",
}
