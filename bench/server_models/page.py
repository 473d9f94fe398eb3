"""Writes what was measured: for a terminal, as Markdown to keep, as JSON to work with."""

import json
from dataclasses import asdict

from side_by_side.table import aligned

from . import costs

HEADINGS = ["server", "CPU/request", "least–most", "÷ nginx", "rate /s", "server busy"]
MEMORY_HEADINGS = ["server", "memory per connection", "without connections"]


def cost_lines(servers, problems):
    """Cells of one table: the cheapest first, then what did not work."""
    lines = []
    for name in sorted(servers, key=lambda name: servers[name].cpu_us):
        it = servers[name]
        ratio = costs.ratio(servers, name)
        lines.append([name, f"{it.cpu_us:.2f} µs", f"{it.cpu_us_least:.2f}–{it.cpu_us_most:.2f}",
                      "-" if ratio is None else f"{ratio:.2f}", f"{it.rate_per_s:,.0f}", f"{it.busy:.0%}"])
    return lines + [[name, why] for name, why in problems.items() if name not in servers]


def memory_lines(memory):
    lines = []
    for name, it in memory.items():
        if it.problem:
            lines.append([name, it.problem])
        else:
            lines.append([name, f"{it.bytes_per_connection:,.0f} B", f"{it.before_kib / 1024:.1f} MiB"])
    return lines


def titles(outcome):
    for (kind, load) in outcome.results:
        yield (kind, load), f"{outcome.kinds[kind]}, loaded by {load}"


def terminal(outcome):
    parts = []
    for key, title in titles(outcome):
        lines = cost_lines(outcome.results[key], outcome.problems[key])
        parts.append(f"{title}\n{aligned([HEADINGS, *lines])}\n")
    if outcome.memory:
        parts.append(f"idle connections\n{aligned([MEMORY_HEADINGS, *memory_lines(outcome.memory)])}\n")
    bars = [[b.work, b.must, b.measured, b.outcome] for b in outcome.bars]
    parts.append("bars\n" + aligned([["work", "must", "measured", "outcome"], *bars], numbers=False))
    return "\n".join(parts)


def markdown(record, outcome):
    machine, settings = record["machine"], record["settings"]
    text = [f"# The servers beside nginx, {record['date']}", "",
            f"{machine['cpu_model']}, {machine['cpus']} CPUs, {machine['memory_gib']} GiB, "
            f"{machine['kernel']}; load average before: {machine['load_before']}.",
            f"Servers on CPU {settings['server_cpu']} with one worker, the load on CPU "
            f"{settings['load_cpu']} with one thread; `/hello`, 14 bytes. nginx: `return 200`, logs "
            f"off, one worker. {settings['repeats']} runs of {settings['seconds']} s each, in an order "
            f"shuffled for each repeat (seed {settings['seed']}).", "",
            "CPU/request is user plus system CPU of the server's processes over the responses; medians. "
            "Trust ratios within a table, not absolutes.", "", "| program | version |", "|---|---|"]
    text += [f"| {name} | {version} |" for name, version in record["versions"].items()]
    text += ["", "## Bars", "", "| work | must | measured | outcome |", "|---|---|---|---|"]
    text += [f"| {b.work} | {b.must} | {b.measured} | {b.outcome} |" for b in outcome.bars]
    for key, title in titles(outcome):
        text += ["", f"## {title}", "", *rows(HEADINGS, cost_lines(outcome.results[key], outcome.problems[key]))]
        spoiled = [f"{name}: {why}" for name, why in outcome.problems[key].items()
                   if name in outcome.results[key]]
        text += ["", *[f"One or more runs left out. {line}" for line in spoiled]] if spoiled else []
    if outcome.memory:
        text += ["", f"## {settings['idle']:,} idle connections", "",
                 "Resident memory of the server that each connection added, after one answer.", "",
                 *rows(MEMORY_HEADINGS, memory_lines(outcome.memory))]
    return "\n".join(text) + "\n"


def rows(headings, lines):
    """A Markdown table; a line of two cells is a name and a sentence."""
    text = ["| " + " | ".join(headings) + " |", "|---" + "|---:" * (len(headings) - 1) + "|"]
    for line in lines:
        text.append("| " + " | ".join(line) + " |" + " |" * (len(headings) - len(line)))
    return text


def as_json(record, outcome):
    """Everything, down to single runs."""
    record = dict(record)
    record["bars"] = [asdict(bar) for bar in outcome.bars]
    record["medians"] = {f"{kind}, {load}": {name: asdict(it) for name, it in servers.items()}
                         for (kind, load), servers in outcome.results.items()}
    record["idle"] = {name: it.as_json() for name, it in outcome.memory.items()}
    record["runs"] = {f"{kind}, {load}": {name: [s.as_json() for s in runs] for name, runs in servers.items()}
                      for (kind, load), servers in outcome.samples.items()}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
