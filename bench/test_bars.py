"""The bars decide over claims, so they are tested: python3 -m unittest discover -s bench"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from side_by_side import bars, measure, phases, rows, tools  # noqa: E402


def sample(tool="ablaze", cpu_s=1.0, answers=1000, rate=1000.0, p50=100.0, kib=1024, problem=None):
    return measure.Sample(tool, problem=problem, answers=answers, server_count=answers, rate_per_s=rate,
                          mean_us=p50, p50_us=p50, p99_us=p50, user_s=cpu_s / 2, system_s=cpu_s / 2, vmhwm_kib=kib)


def summary(**values):
    return bars.summarize([sample(**values)])


def outcomes(name, **summaries):
    return {bar.must: bar.outcome for bar in bars.check({name: summaries}, rows.select([name]))}


class Bars(unittest.TestCase):
    def test_ratio_at_its_limit_is_met_and_above_it_is_not(self):
        at = outcomes("body-48k", ablaze=summary(cpu_s=0.65), ab=summary(), wrk=summary(), shb=summary())
        above = outcomes("body-48k", ablaze=summary(cpu_s=0.66), ab=summary(), wrk=summary(), shb=summary())
        must = "CPU per request at most 0.65 of the best of ab, wrk, shb"
        self.assertEqual([at[must], above[must]], ["met", "not met"])

    def test_the_best_peer_is_the_cheapest(self):
        peers = {"ab": summary(cpu_s=3), "wrk": summary(cpu_s=1), "shb": summary(cpu_s=2)}
        found = outcomes("body-48k", ablaze=summary(cpu_s=0.9), **peers)
        self.assertEqual(found["CPU per request at most 0.65 of the best of ab, wrk, shb"], "not met")

    def test_a_missing_peer_is_not_met_and_named(self):
        found = outcomes("body-48k", ablaze=summary(cpu_s=0.1), ab=summary(), wrk=summary())
        self.assertEqual(found["CPU per request at most 0.65 of the best of ab, wrk, shb"],
                         "not met (peer shb missing)")

    def test_latency_may_be_five_percent_above_wrks_and_no_more(self):
        for part in ("mean", "p99"):
            must = f"{part} at most 1.05 of wrk's"
            at = outcomes("keep-alive-10", ablaze=summary(p50=105.0), wrk=summary(p50=100.0))
            above = outcomes("keep-alive-10", ablaze=summary(p50=105.1), wrk=summary(p50=100.0))
            self.assertEqual([at[must], above[must]], ["met", "not met"])

    def test_phases_are_split_where_the_server_begins_and_ends(self):
        looks = [phases.Look(*clocks) for clocks in
                 [(0.0, 5.0), (0.04, 5.0), (0.05, 5.0005), (0.5, 5.6), (1.0, 6.2), (1.3, 6.5), (1.31, 6.5)]]
        found = phases.split(looks, 1.33, 1.5)
        self.assertEqual([round(value, 6) for value in (found.start_s, found.window_s, found.end_s, found.server_s)],
                         [0.05, 1.25, 0.03, 1.5])

    def test_phases_are_absent_where_the_server_was_not_seen_at_work(self):
        idle = [phases.Look(0.1 * at, 5.0) for at in range(9)]
        self.assertIsNone(phases.split(idle, 0.9, 0.0))
        self.assertIsNone(phases.split([], 0.9, 1.0))

    def test_fewer_than_ten_million_requests_prove_nothing_about_memory(self):
        must = "peak memory under 64 MiB"
        few = outcomes("ten-million", ablaze=summary(answers=1_000_000))
        many = outcomes("ten-million", ablaze=summary(answers=10_000_000))
        fat = outcomes("ten-million", ablaze=summary(answers=10_000_000, kib=64 * 1024))
        self.assertTrue(few[must].startswith("not judged"))
        self.assertEqual([many[must], fat[must]], ["met", "not met"])

    def test_one_false_count_spoils_two_workers(self):
        good, false = sample(), sample(problem="it counted 1,000, the server 1,001")
        for runs, expected in (([good, good], "met"), ([good, false], "not met")):
            found = bars.check({"two-workers": {"ablaze": bars.summarize(runs)}}, rows.select(["two-workers"]))
            self.assertEqual(found[0].outcome, expected)

    def test_medians_leave_out_runs_with_a_problem(self):
        runs = [sample(cpu_s=1), sample(cpu_s=2), sample(cpu_s=4), sample(cpu_s=100, problem="failed")]
        self.assertEqual(bars.summarize(runs).cpu_us, 2000)
        self.assertIsNone(bars.summarize([sample(problem="failed")]))


class Counts(unittest.TestCase):
    def counted(self, tool, server, own, asked=1000):
        it = measure.Sample(tool.name, answers=own, server_count=server)
        return measure.false_count(tool, rows.Row("r", "r", connections=10), rows.Amount(asked, 1), it)

    def test_a_count_must_be_what_was_asked_and_what_was_served(self):
        ab = tools.Ab("ab")
        self.assertIsNone(self.counted(ab, server=1000, own=1000))
        self.assertIn("the server 999", self.counted(ab, server=999, own=1000))
        self.assertIn("asked for 1,000", self.counted(ab, server=990, own=990))

    def test_a_tool_that_stops_by_the_clock_may_leave_requests_in_flight(self):
        wrk = tools.Wrk("wrk")
        self.assertIsNone(self.counted(wrk, server=5010, own=5000))
        self.assertIn("the server 4,999", self.counted(wrk, server=4999, own=5000))
        self.assertIn("the server 5,021", self.counted(wrk, server=5021, own=5000))


if __name__ == "__main__":
    unittest.main()
