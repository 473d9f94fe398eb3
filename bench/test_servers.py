"""The arithmetic of bench/servers decides over claims, so it is tested:
python3 -m unittest discover -s bench"""

import os
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from server_models import costs, idle, loads, page, programs  # noqa: E402


def sample(cpu_us=1.0, answers=1000, wall_s=1.0, problem=None):
    return loads.Sample(problem=problem, answers=answers, cpu_s=cpu_us * answers / 1e6, wall_s=wall_s)


def servers(**cpu_us):
    return {name.replace("_", "-"): costs.summarize([sample(us)]) for name, us in cpu_us.items()}


def outcomes(kind, found):
    return {bar.must: bar.outcome for bar in costs.check({(kind, "wrk"): found})}


class Summaries(unittest.TestCase):
    def test_cost_rate_and_share_come_from_what_was_measured(self):
        it = loads.Sample(answers=200_000, cpu_s=0.9, wall_s=2.0)
        self.assertAlmostEqual(it.cpu_us, 4.5)
        self.assertAlmostEqual(it.rate_per_s, 100_000)
        self.assertAlmostEqual(it.busy, 0.45)

    def test_medians_leave_out_runs_with_a_problem(self):
        runs = [sample(1), sample(2), sample(4), sample(100, problem="failed")]
        it = costs.summarize(runs)
        self.assertAlmostEqual(it.cpu_us, 2)
        self.assertAlmostEqual(it.cpu_us_least, 1)
        self.assertAlmostEqual(it.cpu_us_most, 4)
        self.assertEqual([it.runs, it.runs_left_out], [3, 1])
        self.assertIsNone(costs.summarize([sample(problem="failed")]))

    def test_memory_per_connection_is_what_they_added(self):
        self.assertEqual(costs.bytes_per_connection(1000, 3000, 1024), 2000)
        self.assertEqual(idle.Idle(None, 10_000, 0, 10_000).bytes_per_connection, 1024)


class Loads(unittest.TestCase):
    def test_every_load_asks_for_the_page_for_a_time(self):
        for kind, row in loads.KINDS.items():
            for name, load in loads.ALL.items():
                argv = load(name).for_time("http://127.0.0.1:1/hello", row, 3)
                self.assertEqual(argv[-1], "http://127.0.0.1:1/hello")
                self.assertIn("3s", argv)
                self.assertEqual("close" in " ".join(argv).lower() or "--no-keepalive" in argv, row.close, kind)


class Bars(unittest.TestCase):
    BEST = "CPU per request of the best of epoll-lt, epoll-et at most 0.85 of nginx's"

    def test_ratio_at_its_limit_is_met_and_above_it_is_not(self):
        self.assertEqual(outcomes("keep-alive", servers(nginx=4, epoll_lt=3.4, epoll_et=9))[self.BEST], "met")
        self.assertEqual(outcomes("keep-alive", servers(nginx=4, epoll_lt=3.41, epoll_et=9))[self.BEST],
                         "not met")

    def test_fibers_are_compared_with_the_loop_and_not_with_nginx(self):
        must = "CPU per request of fiber-asm at most 1.15 of epoll-et's"
        self.assertEqual(outcomes("keep-alive", servers(nginx=1, epoll_et=10, fiber_asm=11.4))[must], "met")
        self.assertEqual(outcomes("keep-alive", servers(nginx=100, epoll_et=10, fiber_asm=12))[must], "not met")

    def test_what_is_missing_is_not_met_and_named(self):
        found = outcomes("keep-alive", servers(nginx=4, epoll_et=1))
        self.assertEqual(found[self.BEST], "not met (epoll-lt missing)")
        found = outcomes("keep-alive", servers(epoll_lt=1, epoll_et=1))
        self.assertEqual(found[self.BEST], "not met (nginx missing)")

    def test_a_connection_per_request_has_its_own_bar(self):
        found = outcomes("close", servers(nginx=10, epoll_lt=20, epoll_et=9.5, uring=9.6))
        self.assertEqual(found, {
            "CPU per request of the best of epoll-lt, epoll-et at most 0.95 of nginx's": "met",
            "CPU per request of uring at most 0.95 of nginx's": "not met",
        })


class Page(unittest.TestCase):
    def test_the_cheapest_comes_first_and_what_failed_comes_last(self):
        lines = page.cost_lines(servers(nginx=4, epoll_et=3, async_=5), {"raw": "refused", "nginx": "one failed"})
        self.assertEqual([line[0] for line in lines], ["epoll-et", "nginx", "async-", "raw"])
        self.assertEqual([line[3] for line in lines[:3]], ["0.75", "1.00", "1.25"])

    def test_every_line_of_a_table_has_all_its_cells(self):
        for line in page.rows(["a", "b", "c"], [["x", "1", "2"], ["y", "did not start"]]):
            self.assertEqual(line.count("|"), 4, line)


class Processes(unittest.TestCase):
    def test_the_clock_of_a_process_counts_its_work(self):
        before_s, began = programs.process_cpu_s(os.getpid()), time.process_time()
        while time.process_time() - began < 0.05:
            pass
        self.assertAlmostEqual(programs.process_cpu_s(os.getpid()) - before_s, 0.05, delta=0.02)

    def test_models_are_named_by_the_program_itself(self):
        refusal = "ablaze: invalid value '?' for '--model <NAME>': expected one of epoll-lt, raw; see `x`\n"
        self.assertEqual(programs.names_in(refusal), ["epoll-lt", "raw"])
        with self.assertRaises(programs.ServerError):
            programs.names_in("ablaze: something else\n")

    def test_memory_is_that_of_the_process(self):
        self.assertGreater(programs.resident_kib(os.getpid()), 1000)


if __name__ == "__main__":
    unittest.main()
