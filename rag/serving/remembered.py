"""Answers that were sent, so that a conversation of words is known with its papers again.

Chat programs keep what was said and send it back with the next question. Words alone do not say
which papers an answer cited, and "which benchmark does it use?" needs one. So the server keeps the
last answers in memory, by what was sent to whom; one that it does not know stays words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag.answering.conversation import KEPT, Conversation
from rag.schema import Answer
from rag.serving.passwords import digest

MOST = 500  # answers, some 20 kB each

Message = Mapping[str, Any]


class Remembered:
    """The last answers by user and text. Safe for use by several threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, user: str, answer: Answer, said: str) -> None:
        """Keep an answer that `user` was sent as the text `said`."""
        key = _key(user, said)
        with self._lock:
            self._answers.pop(key, None)
            self._answers[key] = answer
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)

    def conversation(self, user: str, messages: Sequence[Message]) -> Conversation:
        """What was said, with the papers of the answers that are known; see `of_messages`."""
        conversation = Conversation()
        for turn in _turns(messages):
            answer = self._answers.get(_key(user, str(turn[-1].get("content"))))
            if answer is not None:
                conversation = conversation.after(answer)
                continue
            spoken = Conversation.of_messages(turn)
            turns = (*conversation.turns, *spoken.turns)[-KEPT:]
            conversation = Conversation(turns, conversation.numbers)
        return conversation


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The messages up to each answer, of which the last is the one."""
    turn: list[Message] = []
    for place, message in enumerate(messages):
        turn.append(message)
        following = messages[place + 1]["role"] if place + 1 < len(messages) else "user"
        if message["role"] == "assistant" and following != "assistant":
            yield turn
            turn = []


def _key(user: str, said: str) -> str:
    return digest(f"{user}\n{' '.join(said.split())}")
