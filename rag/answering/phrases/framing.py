"""What frames a condition in a question about the collection; data, no logic.

In "Which papers in this collection deal with owl nests?" only "owl nests" is the condition. What
stands in `PLACES` is left out wherever it stands, and a word of `LIGHT` where it comes first or
last; both are regular expressions over normal form.
"""

from __future__ import annotations

PLACES = (
    r"\b(?:in|of|from|within) (?:the|this|that|my|our|your|these) (?:whole |entire |present )?"
    r"(?:collection|library|index|corpus|dataset|database|papers|abstracts)\b"
    r"|\b(?:en|de) (?:la|esta|tu|su) (?:coleccion|biblioteca)\b"
    r"|\bin (?:der|dieser|deiner|ihrer) (?:sammlung|bibliothek)\b"
    r"|\bdans (?:la|cette|ta|votre) (?:collection|bibliotheque)\b"
    r"|(?:本|这个|該|该)?(?:文献库|库|集合)(?:里|中|内)?"
)

LIGHT = frozenset(
    "a about account actually address addresses addressing all also among an and any anything are "
    "article articles as at be been by can cite cites collection concern concerned concerning "
    "concerns consider considers contain containing contains count cover covering covers deal "
    "dealing deals describe describes describing did discuss discusses discussing do does each "
    "ever every examine examines exist explicitly explore explores find focus focuses focused "
    "for from get give gives giving had handle handles has have having held here hold how i in "
    "include includes including into investigate investigates investigating is it its kind kinds "
    "list look looks mainly many me mention mentioned mentioning mentions name named number of on "
    "one ones only or other our paper papers please present presents published question regard "
    "regarding related relate relates relevant report reporting reports respect say says show "
    "shows some something speak speaks studied studies study studying such talk talks that the "
    "their there these they this those to topic topics treat treats up us was were what where "
    "which who with word words work worked works write writes written you your "
    "overview survey review literature research state art summary summarise summarize field known "
    "currently tell gist "
    # what papers do with anything
    "approaches methods systems techniques two three four five several whose call calls claim "
    "adopt adopts apply applies applying develop developed develops employ employs evaluate "
    "evaluated evaluates introduce introduced introduces introducing link links make makes offer "
    "offers propose proposed proposes proposing prove proves provide provides rely relies test "
    "tested tests url urls use used uses using utilise utilises utilize utilizes "
    # Spanish, German, French
    "que cual cuales cuantos cuantas hay sobre de del la las el los en un una tratan trata hablan "
    "mencionan menciona estudian estudia investigan son acerca existen lista todos tienen se "
    "welche welcher welches welchen wie viele gibt es uber von zu zum zur der die das den dem im "
    "behandeln behandelt erwahnen erwahnt untersuchen untersucht handeln sind befassen sich mit "
    "alle nenne zeige mir liste und "
    "quels quelles quel quelle combien y t il des du le les sur parlent parle traitent traite "
    "mentionnent mentionne etudient etudie portent porte sont dans au aux tous toutes et".split()
)

LIGHT_CHINESE = (
    "(?:哪些|哪几篇|有没有|有多少|多少|几篇|列出|所有|全部|关于|關於|提到|提及|讨论|討論|涉及|介绍|"
    "研究了|研究|论文|論文|文章|文献|文獻|摘要|有关|篇|了|的|吗|有|是)"
)

LITERAL = (
    r"\b(?:mention\w*|contain\w*|give|gives|giving|cite|cites|say|says|includ\w*|name[ds]?"
    r"|mencionan?|erwahn\w*|mentionne\w*)\b|提到|提及"
)
"""Verbs that ask for the very words."""
