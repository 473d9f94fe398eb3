"""Writes what was measured: for a terminal, as Markdown to keep, as JSON to work with."""

import json
from dataclasses import asdict

HEADINGS = ["tool", "CPU/request", "least–most", "user", "system", "start / end", "in between", "server",
            "rate /s", "mean", "p50", "p99", "VmHWM", "server busy", "ablaze CPU ÷ its", "ablaze rate ÷ its"]


def row_lines(summaries, problems):
    """Cells of one row's table, ablaze first, then by CPU per request, then what did not work."""
    ours = summaries.get("ablaze")
    order = sorted(summaries, key=lambda name: (name != "ablaze", summaries[name].cpu_us))
    lines = []
    for name in order:
        it = summaries[name]
        ratio = ["-", "-"]
        if ours and name != "ablaze":
            ratio = [f"{ours.cpu_us / it.cpu_us:.2f}", f"{ours.rate_per_s / it.rate_per_s:.2f}"]
        lines.append([name, f"{it.cpu_us:.2f} µs", f"{it.cpu_us_least:.2f}–{it.cpu_us_most:.2f}",
                      f"{it.user_us:.2f}", f"{it.system_us:.2f}", *phases(it), f"{it.rate_per_s:,.0f}",
                      duration(it.mean_us), duration(it.p50_us), duration(it.p99_us), f"{it.vmhwm_kib / 1024:.1f} MiB",
                      "-" if it.server_busy is None else f"{it.server_busy:.0%}", *ratio])
    lines += [[name, why] for name, why in problems.items() if name not in summaries]
    return lines


def phases(it):
    """Cells: the client's CPU time before and after the requests, and both processes' per response during them."""
    if it.client_window_us is None:
        return ["-", "-", "-"]
    return [f"{it.client_start_ms:.0f} / {it.client_end_ms:.0f} ms", f"{it.client_window_us:.2f}",
            f"{it.server_window_us:.2f}"]


def duration(us):
    """Microseconds, in the unit that leaves three digits."""
    if us is None:
        return "-"
    if us < 1000:
        return f"{us:.0f} µs"
    return f"{us / 1e3:.2f} ms" if us < 1e6 else f"{us / 1e6:.2f} s"


def aligned(lines, numbers=True):
    """Lines of cells as columns of a terminal; a line of two cells is a name and a sentence."""
    full = [line for line in lines if len(line) > 2]
    widths = [max(len(line[i]) for line in full) for i in range(len(full[0]))] if full else []
    text = []
    for line in lines:
        if len(line) == 2:
            text.append(f"  {line[0]}: {line[1]}")
        else:
            cells = [line[0].ljust(widths[0])]
            cells += [c.rjust(w) if numbers else c.ljust(w) for c, w in zip(line[1:], widths[1:])]
            text.append("  " + "  ".join(cells).rstrip())
    return "\n".join(text)


def terminal(rows, results, problems, bars):
    """The whole outcome for a terminal."""
    parts = []
    for row in rows:
        lines = row_lines(results[row.name], problems[row.name])
        parts.append(f"{row.title}\n{aligned([HEADINGS, *lines])}\n")
    parts.append("bars\n" + aligned([["work", "must", "measured", "outcome"]] +
                                    [[b.work, b.must, b.measured, b.outcome] for b in bars], numbers=False))
    return "\n".join(parts)


def markdown(record, rows, results, problems, bars):
    """The whole outcome as a page to keep."""
    machine, settings = record["machine"], record["settings"]
    text = [f"# ablaze beside its peers, {record['date']}", "",
            f"{machine['cpu_model']}, {machine['cpus']} CPUs, {machine['memory_gib']} GiB, "
            f"{machine['kernel']}; load average before: {machine['load_before']}.",
            f"{record['versions']['nginx']}, one worker, loopback. {settings['repeats']} repeats of about "
            f"{settings['seconds']} s, tools interleaved in an order shuffled for each repeat (seed "
            f"{settings['seed']}).", "",
            "CPU/request is user plus system CPU of the whole client process over its responses; all "
            "values are medians, VmHWM is the highest. Start / end is the client's CPU time before the first and after the last "
            "request, in between its CPU per request without them, server what the server used per request; server busy is what the server used of one CPU. Trust "
            "ratios within a row, not absolutes.",
            "", "| tool | version |", "|---|---|"]
    text += [f"| {name} | {version} |" for name, version in record["versions"].items()]
    text += ["", "## Bars", "", "| work | must | measured | outcome |", "|---|---|---|---|"]
    text += [f"| {b.work} | {b.must} | {b.measured} | {b.outcome} |" for b in bars]
    for row in rows:
        text += ["", f"## {row.title}", "", "| " + " | ".join(HEADINGS) + " |",
                 "|---" + "|---:" * (len(HEADINGS) - 1) + "|"]
        for line in row_lines(results[row.name], problems[row.name]):
            if len(line) > 2:
                text.append("| " + " | ".join(line) + " |")
            else:
                text.append(f"| {line[0]} | {line[1]} |" + " |" * (len(HEADINGS) - 2))
        spoiled = [f"{name}: {why}" for name, why in problems[row.name].items() if name in results[row.name]]
        text += ["", *[f"One or more runs left out. {line}" for line in spoiled]] if spoiled else []
    return "\n".join(text) + "\n"


def as_json(record, results, bars, samples):
    """Everything, down to single runs."""
    record = dict(record)
    record["bars"] = [asdict(bar) for bar in bars]
    record["medians"] = {row: {tool: asdict(s) for tool, s in tools.items()} for row, tools in results.items()}
    record["runs"] = {row: {tool: [s.as_json() for s in runs] for tool, runs in tools.items()}
                      for row, tools in samples.items()}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
