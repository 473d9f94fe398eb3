"""Memory per idle connection: many connections that have asked once and then say nothing."""

import resource
import socket
import time
from dataclasses import asdict, dataclass

from . import costs
from .programs import HELLO

REQUEST = b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@dataclass
class Idle:
    """What a server held with and without the connections."""

    problem: str | None = None
    connections: int = 0
    before_kib: int = 0
    after_kib: int = 0

    @property
    def bytes_per_connection(self):
        return costs.bytes_per_connection(self.before_kib, self.after_kib, self.connections)

    def as_json(self):
        return asdict(self)


def raise_descriptor_limit(connections):
    """Room for the connections in this process and, inherited, in the servers."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < connections + 100:
        raise ValueError(f"{connections} connections need more than {hard} descriptors (ulimit -Hn)")


def measure(program, connections):
    """Holds the connections against a server that has had none before."""
    host, port = program.url.removeprefix("http://").split("/")[0].split(":")
    before_kib = program.resident_kib()
    held = []
    try:
        for _ in range(connections):
            one = socket.create_connection((host, int(port)), timeout=10)
            held.append(one)
            one.sendall(REQUEST)
            read_answer(one)
        time.sleep(0.2)
        return Idle(connections=connections, before_kib=before_kib, after_kib=program.resident_kib())
    except OSError as error:
        return Idle(problem=f"after {len(held):,} connections: {error}")
    finally:
        for one in held:
            one.close()


def read_answer(connection):
    answer = b""
    while not answer.endswith(HELLO):
        part = connection.recv(4096)
        if not part:
            raise OSError("closed without an answer")
        answer += part
