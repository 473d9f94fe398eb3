"""The rows of the table: what work is compared."""

from dataclasses import dataclass, replace


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
    # https, with an X25519 key exchange and a P-256 certificate.
    tls: bool = False
    # With TLS: the certificate is checked by those tools that can, against the bench's own CA.
    verify: bool = True
    # HTTP/2 with so many streams on each connection; 0: HTTP/1.1.
    streams: int = 0
    # nginx, or what ablaze serves itself, where nginx is the limit: what holds must hold with both.
    server: str = "nginx"

    @property
    def in_flight(self):
        """Requests in flight over all connections."""
        return self.connections * max(self.pipeline, self.streams, 1)


@dataclass(frozen=True)
class Amount:
    """How much is asked of each tool: a number of requests, or seconds where it only takes those."""

    requests: int
    seconds: int


def with_both(*rows):
    """Each row with nginx, then with the built-in server."""
    for row in rows:
        yield row
        yield replace(row, name=row.name + "-own", title=row.title + ", ablaze serve", server="own")


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
    *with_both(
        Row("tls-keep-alive", "TLS 1.3, keep-alive, c=100", tls=True),
        Row("tls-handshake", "TLS 1.3, a full handshake per request, verified, c=20", connections=20,
            close=True, tls=True),
        Row("tls-handshake-any", "TLS 1.3, a full handshake per request, any certificate, c=20",
            connections=20, close=True, tls=True, verify=False),
        Row("tls-body-1m", "1 MiB body over TLS 1.3, c=10", path="/1m", connections=10, tls=True),
        Row("h2-tls", "HTTP/2 over TLS 1.3, c=10, 10 streams", connections=10, tls=True, streams=10),
        Row("h2c", "HTTP/2 without TLS, c=10, 100 streams", connections=10, streams=100),
    ),
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
