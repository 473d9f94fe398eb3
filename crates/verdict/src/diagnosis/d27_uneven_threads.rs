//! D27: one of the server's threads does far more than its share.

use ablaze_model::Run;
use ablaze_model::monitor::Thread;
use ablaze_model::plan::Load;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D27;
use crate::finding::{Finding, Severity};
use crate::live::figures::{of_a_core, server, target};
use crate::words::{amount, percent};

/// The busiest thread uses more than this multiple of the mean.
const UNEVEN: f64 = 1.5;
/// An idle server need not share anything out.
const BUSY: f64 = 0.5;
/// Of threads that have no numbers, those serve that do so much of what the busiest does.
const SERVES: f64 = 0.05;
/// For more connections than these chance is not worked out: it evens them out.
const MOST_CONNECTIONS: usize = 256;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D27,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let threads = Serving::of(run)?;
    let ratio = threads.ratio();
    if ratio <= UNEVEN || server(run)?.busiest < BUSY || threads.shares[0] < BUSY {
        return None;
    }
    let chance = threads.chance(run).map_or(String::new(), |chance| {
        format!(
            " If {} connections are assigned to {} threads at random, {} of all runs are as \
             uneven.",
            run.plan.load.connections(),
            threads.shares.len(),
            percent(chance)
        )
    });
    Some(Finding::new(
        D27,
        Severity::Note,
        format!("{}{chance}", threads.described()),
        "If each connection belongs to one thread, and each costs as much, they are not distributed evenly: with SO_REUSEPORT the \
         assignment is random, and where threads share a listener, the first to wake up takes them. Threads that share a CPU \
         with others get less of it, however many connections they have. A runtime or a pool that gives each \
         request to any thread fills some first, and is not uneven by that. Threads of such names may also have other \
         work, such as a garbage collection, or another address or protocol to serve.",
        "Where connections belong to threads, use ten times as many as threads; if it stays uneven, check how the server \
         distributes them.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    Serving::of(run).map(|threads| threads.described())
}

/// The shares of a core of the threads that serve, the busiest first.
struct Serving {
    shares: Vec<f64>,
    listeners: u64,
    /// Whether they are told apart by numbers in their names: else some may have other work.
    numbered: bool,
}

impl Serving {
    /// `None` unless there are two or more, and as many connections.
    fn of(run: &Run) -> Option<Self> {
        let target = target(run)?;
        // Those that hold the listener; what they started has work of its own.
        let all = target.processes.iter();
        let all = all.filter(|process| process.watched_ns > 0 && process.serving.is_some());
        let mut threads: Vec<(&Thread, f64)> = all
            .flat_map(|process| {
                let share = |thread: &Thread| thread.cpu_ns as f64 / process.watched_ns as f64;
                process.threads.iter().map(move |thread| (thread, share(thread)))
            })
            .collect();
        threads.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (busiest, most) = *threads.first()?;
        threads.retain(|(thread, _)| kind(&thread.name) == kind(&busiest.name));
        // `worker-0`, `worker-1`: one that does nothing serves, too. Where all have one name, those
        // that do nothing may have other work.
        let is_one_name = threads.iter().all(|(thread, _)| thread.name == busiest.name);
        let has_number = |thread: &Thread| kind(&thread.name) != thread.name;
        // All of several processes may be called `python3`.
        let numbered = !is_one_name && threads.iter().all(|(thread, _)| has_number(thread));
        threads.retain(|(_, share)| numbered || *share >= SERVES * most);
        let shares: Vec<f64> = threads.into_iter().map(|(_, share)| share).collect();
        let enough = shares.len() >= 2 && run.plan.load.connections() as usize >= shares.len();
        let listeners = target.listener.as_ref().map_or(1, |listener| listener.sockets);
        enough.then_some(Self { shares, listeners, numbered })
    }

    /// The busiest by the mean.
    fn ratio(&self) -> f64 {
        let mean = self.shares.iter().sum::<f64>() / self.shares.len() as f64;
        if mean > 0.0 { self.shares[0] / mean } else { 1.0 }
    }

    fn described(&self) -> String {
        let least = self.shares.last().copied().unwrap_or_default();
        format!(
            "Of {} {}, the busiest used {} and the least busy {}: {} times the mean.",
            self.shares.len(),
            if self.numbered { "numbered threads" } else { "busy threads of one name" },
            of_a_core(self.shares[0]),
            of_a_core(least),
            amount(self.ratio())
        )
    }

    /// How probable it is that chance alone is as uneven, where it is what shares out: a listener for
    /// each thread, and connections that stay.
    fn chance(&self, run: &Run) -> Option<f64> {
        let Load::Closed { connections, .. } = run.plan.load else { return None };
        let threads = self.shares.len();
        let stay = run.record.connections_opened <= 2 * u64::from(connections);
        let by_chance = stay && self.listeners as usize >= threads;
        let connections = connections as usize;
        if !by_chance || connections > MOST_CONNECTIONS {
            return None;
        }
        let most = (self.ratio() * connections as f64 / threads as f64).round() as usize;
        Some(1.0 - none_has_more_than(most.saturating_sub(1), connections, threads))
    }
}

/// The name without the number at its end: `worker-` of `worker-3`.
fn kind(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// The probability that, of so many connections dealt out to so many threads, each as likely, no
/// thread gets more than `most`: the multinomial distribution summed one thread at a time, each
/// taking a binomial share of what those before it left.
fn none_has_more_than(most: usize, connections: usize, threads: usize) -> f64 {
    // left[n]: the probability that n connections are left and nobody so far has too many.
    let mut left = vec![0.0; connections + 1];
    left[connections] = 1.0;
    for others in (0..threads).rev() {
        let share = 1.0 / (others + 1) as f64;
        let mut next = vec![0.0; connections + 1];
        for (total, probability) in left.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            for (taken, chance) in binomial(total, share).into_iter().enumerate().take(most + 1) {
                next[total - taken] += probability * chance;
            }
        }
        left = next;
    }
    left[0]
}

/// The probabilities of 0 to `total` successes.
fn binomial(total: usize, share: f64) -> Vec<f64> {
    if share >= 1.0 {
        let mut all = vec![0.0; total + 1];
        all[total] = 1.0;
        return all;
    }
    let (hit, miss) = (share.ln(), (1.0 - share).ln());
    let mut ways = 0.0f64;
    (0..=total)
        .map(|taken| {
            if taken > 0 {
                ways += ((total - taken + 1) as f64 / taken as f64).ln();
            }
            (ways + taken as f64 * hit + (total - taken) as f64 * miss).exp()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    /// Threads with these shares of a core, of these names.
    fn with(threads: &[(&str, f64)]) -> Run {
        let mut run = sample::run();
        let one = sample::threads(&mut run)[0].clone();
        *sample::threads(&mut run) = threads
            .iter()
            .map(|(name, share)| Thread {
                name: (*name).to_owned(),
                cpu_ns: (share * 1e10) as u64,
                ..one.clone()
            })
            .collect();
        run
    }

    #[test]
    fn one_thread_for_all_is_uneven_and_one_alone_is_not() {
        assert_eq!(on_run(&sample::run()), None);
        let finding = on_run(&with(&[("worker-0", 0.96), ("worker-1", 0.12)])).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        let said = "Of 2 numbered threads, the busiest used 96 % of a core and the least busy 12 % of a \
                    core: 1.78 times the mean.";
        assert_eq!(finding.evidence, said);
        // Three of four that are confined to one CPU get a third of it each, for as many connections.
        assert!(finding.cause.contains("Threads that share a CPU"), "{}", finding.cause);
        // `ipv4` and `ipv6`, `http1` and `http2` are numbered, too, and do not share out connections.
        assert!(finding.cause.contains("another address or protocol"), "{}", finding.cause);
        assert_eq!(on_run(&with(&[("worker-0", 0.9), ("worker-1", 0.5)])), None);
        assert!(on_run(&with(&[("worker-0", 0.9), ("worker-1", 0.0)])).is_some());
        assert_eq!(on_run(&with(&[("worker-0", 0.3), ("worker-1", 0.0)])), None, "hardly a load");
    }

    #[test]
    fn threads_with_other_work_do_not_serve() {
        assert_eq!(on_run(&with(&[("worker-0", 0.9), ("accept", 0.1), ("worker-1", 0.8)])), None);
        assert_eq!(on_run(&with(&[("server", 0.9), ("server", 0.8), ("server", 0.01)])), None);
        assert!(on_run(&with(&[("server", 0.9), ("server", 0.1), ("server", 0.1)])).is_some());
        // A parent that serves nothing itself.
        assert_eq!(on_run(&with(&[("python3", 0.9), ("python3", 0.8), ("python3", 0.0)])), None);
    }

    #[test]
    fn fewer_connections_than_threads_cannot_be_even() {
        let mut run = with(&[("worker-0", 0.9), ("worker-1", 0.0)]);
        run.plan.load = Load::Closed { connections: 1, pipeline: 1 };
        assert_eq!((on_run(&run), seen(&run)), (None, None));
    }

    #[test]
    fn chance_is_worked_out_where_it_shares_out() {
        let mut run = with(&[("worker-0", 0.9), ("worker-1", 0.1)]);
        run.plan.load = Load::Closed { connections: 4, pipeline: 1 };
        run.record.connections_opened = 4;
        assert!(!on_run(&run).unwrap().evidence.contains("chance"));
        sample::monitor(&mut run).target.listener.as_mut().unwrap().sockets = 2;
        // 1.8 times the mean of 2 is 4 of 4, which 2 of 16 deals give: 12.5 %.
        let evidence = on_run(&run).unwrap().evidence;
        assert!(
            evidence.contains("to 2 threads at random, 13 % of all runs are as uneven"),
            "{evidence}"
        );
    }

    #[test]
    fn the_deal_agrees_with_counting() {
        // All 3^5 ways to deal 5 connections to 3 threads.
        for most in 1..=5 {
            let good = (0..3u32.pow(5)).filter(|deal| {
                let mut counts = [0; 3];
                (0..5).for_each(|place| counts[(deal / 3u32.pow(place) % 3) as usize] += 1);
                counts.iter().all(|count| *count <= most)
            });
            let counted = good.count() as f64 / 3f64.powi(5);
            assert!((none_has_more_than(most, 5, 3) - counted).abs() < 1e-12, "{most}");
        }
    }
}
