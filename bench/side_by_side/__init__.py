"""ablaze beside its peers: the same work against the same server, measured the same way."""
