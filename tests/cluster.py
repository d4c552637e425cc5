"""A Ray cluster of two machines on this one, in a process of its own.

It tells its address, loses a machine at the first line it is sent, and ends with its input. Apart
from the tests because Ray changes how modules are imported in a process that imports it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import ROOT, environment


class TwoMachines:
    """A running cluster of two nodes with one processor each."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._input, self._output = process.stdin, process.stdout
        self.address = self._said()

    def lose_one(self) -> None:
        """Kill everything on the second node."""
        self._input.write("lose\n")
        self._input.flush()
        assert self._said() == "lost"

    def _said(self) -> str:
        for line in self._output:
            if line.startswith("said "):
                return line.split()[1]
        raise AssertionError("the cluster has ended")


@contextmanager
def two_machines() -> Iterator[TwoMachines]:
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}", RAY_USAGE_STATS_ENABLED="0"),
    )
    try:
        yield TwoMachines(process)
    finally:
        process.communicate(timeout=60)  # closes its input


def main() -> None:
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    try:
        second = cluster.add_node(**small)
        cluster.wait_for_nodes()
        sys.stdout.write(f"said {cluster.address}\n")
        sys.stdout.flush()
        for _ in sys.stdin:
            cluster.remove_node(second, allow_graceful=False)
            sys.stdout.write("said lost\n")
            sys.stdout.flush()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
