"""What bench/servers is made of: programs (what is measured), costs (what it means), page."""
