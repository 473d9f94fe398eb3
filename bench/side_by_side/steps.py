"""The journey of bench/journeys, and random URLs, as hurl, k6 and oha are told them."""

import json
import sys

# Journeys of one run: enough that starting the program does not count.
HURL_JOURNEYS = 300
K6_JOURNEYS = 5_000
OHA_REQUESTS = 100_000

K6_SCRIPT = """import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const rows = new SharedArray('users', () => JSON.parse(open('./users.json')));
export const options = { vus: VUS, iterations: JOURNEYS, thresholds: { checks: ['rate==1'] } };

export default function () {
  const row = rows[exec.scenario.iterationInTest % rows.length];
  const login = http.post('URL/login', { user: row.user, password: row.password });
  const item = http.get(`URL/items/${row.item}`, { headers: { Authorization: `Bearer ${login.json('token')}` } });
  const basket = http.get('URL/basket', { headers: { Accept: login.headers['Content-Type'] } });
  check([login, item, basket], { 'status is 200': (all) => all.every((one) => one.status === 200) });
}
"""


class Peer:
    """A program, its words, how many requests they send, and what they must print."""

    def __init__(self, name, words, requests, accept=lambda out: True):
        self.name, self.words, self.requests, self.accept = name, words, requests, accept


def hurl(program, folder, quick):
    journeys = 2 if quick else HURL_JOURNEYS
    words = [program, "--repeat", str(journeys), "--variable", "user=anna", "--variable", "password=anna",
             "--variable", "item=5", str(folder / "journey.hurl")]
    return Peer("hurl", words, 3 * journeys)


def k6(program, folder, url, rows, users, quick):
    """Its users begin each iteration with an empty cookie jar, too."""
    journeys = users if quick else K6_JOURNEYS
    script = K6_SCRIPT.replace("URL", url).replace("VUS", str(users)).replace("JOURNEYS", str(journeys))
    (folder / "journey.js").write_text(script)
    (folder / "users.json").write_text(json.dumps(rows))
    words = [program, "run", "--quiet", "--no-usage-report", "--address", "", str(folder / "journey.js")]
    return Peer("k6", words, 3 * journeys)


def oha(program, urls, users, quick):
    requests = 1_000 if quick else OHA_REQUESTS
    words = [program, "--no-tui", "--output-format", "json", "-n", str(requests), "-c", str(users),
             "--urls-from-file", str(urls)]
    return Peer("oha", words, requests, lambda out: json.loads(out)["statusCodeDistribution"] == {"200": requests})


def cpu_us(peer, run, most_s):
    """CPU, µs per request of the whole program."""
    usage, status, *_, out, err = run(peer.words, most_s)
    if status != 0 or not peer.accept(out):
        sys.exit(f"bench/journeys: {' '.join(peer.words)}: status {status}: {err.strip() or out.strip()}")
    return (usage.ru_utime + usage.ru_stime) * 1e6 / peer.requests
