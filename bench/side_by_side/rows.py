"""The rows of the table: what work is compared."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One kind of work."""

    name: str
    title: str
    path: str = "/small"
    connections: int = 100
    close: bool = False
    pipeline: int = 1
    threads: int = 1
    # At least so long a run: thousands of connections take a while to stand.
    least_seconds: int = 1
    # Fixed number of requests; None: as many as fill the time given by --seconds.
    requests: int | None = None
    # Measured with ablaze alone, once: a promise about itself, not a comparison.
    alone: bool = False


@dataclass(frozen=True)
class Amount:
    """How much is asked of each tool: a number of requests, or seconds where it only takes those."""

    requests: int
    seconds: int


ROWS = [
    Row("keep-alive-1", "keep-alive, c=1", connections=1),
    Row("keep-alive-10", "keep-alive, c=10", connections=10),
    Row("keep-alive-100", "keep-alive, c=100"),
    Row("keep-alive-1000", "keep-alive, c=1000", connections=1000),
    Row("keep-alive-10000", "keep-alive, c=10000", connections=10_000, least_seconds=5),
    Row("close", "a connection per request, c=100", close=True),
    Row("body-48k", "48,576-byte body, c=10", path="/48k", connections=10),
    Row("body-1m", "1 MiB body, c=10", path="/1m", connections=10),
    Row("pipelined", "pipelined, 16 deep, c=100", pipeline=16),
    Row("two-workers", "two workers, c=100", threads=2, alone=True),
    Row("ten-million", "10,000,000 requests, c=100", requests=10_000_000, alone=True),
]


def select(names):
    """The rows of these names, in the table's order; all when there are none."""
    known = {row.name for row in ROWS}
    for name in names:
        if name not in known:
            raise ValueError(f"no row {name!r}; there are: {' '.join(sorted(known))}")
    return [row for row in ROWS if not names or row.name in names]
