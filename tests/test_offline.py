"""Offline is proven: what every local command reaches for, as Python and the kernel see it."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from command import SEEDS, WEIGHTS
from fakes import Script, ScriptedServer, streamed
from test_reliability_ingest import can_inject
from together import Together, together

from rag.config import Config

QUESTION = "What does RN-DPO normalize?"
LOCAL: list[list[str]] = [
    ["index", str(SEEDS), "--compact"],
    ["search", QUESTION, "-k", "3"],
    ["ask", QUESTION, "--llm", "none"],
    ["summarize", "RepoScope", "--llm", "none"],
    ["list", "papers on reinforcement learning", "--llm", "none"],
    ["survey", "reinforcement learning", "--llm", "none"],
    ["compare", "RepoScope", "RADAR", "--llm", "none"],
    ["extract", "reinforcement learning", "--columns", "method", "--llm", "none"],
    ["export", "--format", "bibtex", "--all"],
    ["papers", "list"],
    ["papers", "show", "RepoScope"],
    ["papers", "duplicates"],
    ["history", "list"],
    ["doctor"],
    ["config"],
]
ASKS = [["ask", QUESTION]]
ADDRESS = re.compile(
    r"sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?(?:inet_addr|inet_pton)\(.*?\"([^\"]+)\"\)"
)


def reply(*_: object) -> Script:
    return streamed([json.dumps({"claims": [{"support": ["S1"], "text": "It normalizes."}]})])


@pytest.fixture(scope="module")
def ran(
    seeds_config: Config, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Together, str, str]:
    """All commands in one process; what the kernel was asked for, and the configured server."""
    folder = tmp_path_factory.mktemp("offline")
    data = shutil.copytree(seeds_config.data_dir, folder / "data")
    trace = folder / "trace"
    prefix = []
    if can_inject(folder):
        prefix = [
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-e",
            "trace=connect,sendto,sendmsg",
            "-o",
            str(trace),
        ]
    with ScriptedServer(reply, models=["m"]) as server:
        env = {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
            "OPENAI_MODEL": "m",
            WEIGHTS: str(seeds_config.weights_dir),
        }
        done = together(*LOCAL, *ASKS, data=data, env=env, prefix=prefix)
        return done, trace.read_text() if trace.exists() else "", server.host


def test_every_command_works_without_a_network(ran: tuple[Together, str, str]) -> None:
    told = {
        " ".join(command): one.err
        for command, one in zip([*LOCAL, *ASKS], ran[0].ran, strict=True)
        if one.code
    }
    assert told == {}


def test_C21_python_reaches_for_the_configured_server_alone(
    ran: tuple[Together, str, str],
) -> None:
    host, port = ran[2].split(":")
    others = [one for one in ran[0].reached if host not in one or port not in one]
    assert others == []
    assert ran[0].reached != []


def test_C21_so_does_the_kernel_see_it_for_all_child_processes(
    ran: tuple[Together, str, str],
) -> None:
    if not ran[1]:
        pytest.skip("there is no strace here that may watch calls of the system")
    reached = {f"{place}:{port}" for port, place in ADDRESS.findall(ran[1])}
    assert reached == {ran[2]}
    assert "htons(53)" not in ran[1]
    assert "nscd" not in ran[1]
