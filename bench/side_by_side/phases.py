"""What a run cost before its requests, during them and after them: the CPU clocks of client and server,
looked at while the client runs. The requests are where the server uses CPU time."""

from dataclasses import dataclass

# The server has begun, or is about to end, when its clock is this far from where it stood.
THRESHOLD_S = 0.001


@dataclass
class Look:
    """The two CPU clocks at one moment, s."""

    client_s: float
    server_s: float


@dataclass
class Phases:
    """CPU seconds of the client before, during and after the requests, and of the server during them."""

    start_s: float
    window_s: float
    end_s: float
    server_s: float


def split(looks, client_s, server_s):
    """Phases of a client that used `client_s` in total while the server used `server_s`; None where the looks do
    not show the server at work. Exact to what happened between two looks."""
    if len(looks) < 3 or server_s < 3 * THRESHOLD_S:
        return None
    base = looks[0].server_s
    begun = max((at for at, look in enumerate(looks) if look.server_s - base < THRESHOLD_S), default=0)
    ended = next((at for at, look in enumerate(looks) if base + server_s - look.server_s < THRESHOLD_S), None)
    start_s = looks[begun].client_s
    until_s = client_s if ended is None else min(looks[ended].client_s, client_s)
    if until_s < start_s:
        return None
    return Phases(start_s, until_s - start_s, client_s - until_s, server_s)
