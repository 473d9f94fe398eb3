//! Shards: runs of the same work at the same time, each by a client of its own, put together as the
//! one run that they were. Distributions and counters are added, nothing is lost.

use ablaze_model::plan::{Load, RateProfile};
use ablaze_model::run::{Ended, Machine, Shards as OfShards};
use ablaze_model::{Plan, Run};

/// Shards ran together for at least this share of the longest.
const TOGETHER: f64 = 0.5;

/// The shards as one run; each has the name of its file.
///
/// # Errors
/// When they did not do the same work, or not at the same time: which, and in what they differ.
pub fn merged(shards: Vec<(String, Run)>) -> Result<Run, String> {
    let mut together = Shards { together_min: TOGETHER, so_far: None };
    // What was put together before counts as what it was put together from.
    let (mut count, mut together_ns) = (0, u64::MAX);
    for (name, shard) in shards {
        let before = shard.shards;
        count += before.map_or(1, |of| of.count);
        together_ns = together_ns.min(before.map_or(u64::MAX, |of| of.together_ns));
        together.add(name, shard)?;
    }
    let together_ns = together_ns.min(together.together_ns());
    let whole = together.whole().ok_or_else(|| "nothing to merge".to_owned())?;
    Ok(Run { shards: Some(OfShards { count, together_ns }), ..whole })
}

/// Shards that are put together one after the other: a Run has millions of buckets, and only that of all so far is kept.
pub struct Shards {
    /// They ran at the same time for at least such a share of the longest.
    together_min: f64,
    so_far: Option<SoFar>,
}

struct SoFar {
    whole: Run,
    /// The names of all, in order.
    names: Vec<String>,
    longest_ns: u64,
    /// The time in which all ran, ns since 1970.
    together: (u64, u64),
}

impl Shards {
    /// Of shards that are known to be of one run: one that was ended early is its part, too.
    pub fn of_one_run() -> Self {
        Self { together_min: 0.0, so_far: None }
    }

    /// Puts the next one to the others.
    ///
    /// # Errors
    /// When it did not do their work, or not at the same time: in what it differs. The others are as before.
    pub fn add(&mut self, name: String, mut shard: Run) -> Result<(), String> {
        let (began, ended) = (shard.started_unix_ns, shard.started_unix_ns + shard.elapsed_ns);
        let Some(so_far) = &mut self.so_far else {
            (shard.monitor, shard.fleet) = (None, None);
            let longest_ns = shard.elapsed_ns;
            let (names, together) = (vec![name], (began, ended));
            self.so_far = Some(SoFar { whole: shard, names, longest_ns, together });
            return Ok(());
        };
        let first = &so_far.names[0];
        if let Some(difference) = difference(&so_far.whole.plan, &shard.plan) {
            return Err(format!(
                "{first} and {name} are not shards of one run: {difference}; to compare them, use \
                 `ablaze compare` with both files"
            ));
        }
        let longest_ns = so_far.longest_ns.max(shard.elapsed_ns);
        let together = (so_far.together.0.max(began), so_far.together.1.min(ended));
        let overlap_ns = together.1.saturating_sub(together.0);
        if (overlap_ns as f64) < self.together_min * longest_ns as f64 {
            return Err(format!(
                "{first} and {name} are not shards of one run: they did not run at the same time; \
                 to compare them, use `ablaze compare`"
            ));
        }
        (so_far.longest_ns, so_far.together) = (longest_ns, together);
        add(&mut so_far.whole, shard);
        so_far.names.push(name);
        Ok(())
    }

    /// For how long all of them ran, ns.
    fn together_ns(&self) -> u64 {
        self.so_far.as_ref().map_or(0, |so_far| so_far.together.1.saturating_sub(so_far.together.0))
    }

    /// The one run that they were; `None` where there is none.
    pub fn whole(self) -> Option<Run> {
        let SoFar { mut whole, names, .. } = self.so_far?;
        whole.plan.workers.count_reason = format!("{} shards", names.len());
        whole.plan.workers.cpus.clear();
        let command = ["ablaze", "report", "--merge"].map(String::from);
        whole.command_line = command.into_iter().chain(names).collect();
        let plan = &whole.plan;
        if let Some(asked) = &mut whole.asked {
            asked.of_all_shards(plan);
        }
        Some(whole)
    }
}

fn add(whole: &mut Run, mut shard: Run) {
    let began = whole.started_unix_ns.min(shard.started_unix_ns);
    let ended = |run: &Run| run.started_unix_ns + run.elapsed_ns;
    let end = ended(whole).max(ended(&shard));
    // Slices count from the clock's start, which is that of the first shard now.
    for run in [&mut *whole, &mut shard] {
        let late_ns = run.started_unix_ns - began;
        let slices = &mut run.record.slices;
        let empty = (late_ns as f64 / slices.slice_ns.max(1) as f64).round() as usize;
        slices.delay(empty);
    }
    (whole.started_unix_ns, whole.elapsed_ns) = (began, end - began);
    whole.setup_ns = whole.setup_ns.max(shard.setup_ns);
    whole.record.merge(shard.record);
    whole.workers.extend(shard.workers);
    if shard.ended != Ended::Complete {
        whole.ended = shard.ended;
    }
    if whole.machine != shard.machine {
        whole.machine = Machine::default();
    }
    let plan = &mut whole.plan;
    plan.workers.count += shard.plan.workers.count;
    plan.limits.requests =
        plan.limits.requests.zip(shard.plan.limits.requests).map(|(one, other)| one + other);
    plan.load = sum(plan.load, shard.plan.load);
    let theirs = shard.plan.journey.and_then(|journey| journey.users.ramp);
    let own = plan.journey.as_mut().and_then(|journey| journey.users.ramp.as_mut());
    if let (Some(own), Some(theirs)) = (own, theirs) {
        (own.from, own.to) = (own.from + theirs.from, own.to + theirs.to);
    }
}

/// Loads of one shape, added.
fn sum(one: Load, other: Load) -> Load {
    match (one, other) {
        (Load::Closed { connections, pipeline }, Load::Closed { connections: more, .. }) => {
            Load::Closed { connections: connections.saturating_add(more), pipeline }
        }
        (
            Load::Open { rate, arrivals, connections, bounded },
            Load::Open { rate: also, connections: more, bounded: theirs, .. },
        ) => Load::Open {
            rate: RateProfile {
                from_per_s: rate.from_per_s + also.from_per_s,
                to_per_s: rate.to_per_s + also.to_per_s,
                ..rate
            },
            arrivals,
            connections: connections.saturating_add(more),
            bounded: bounded && theirs,
        },
        (one, _) => one,
    }
}

/// The first thing in which the work of two Plans differs. How many connections, threads and
/// requests per second each has is what makes them shards.
fn difference(one: &Plan, other: &Plan) -> Option<String> {
    let told = |what: &str, one: &dyn std::fmt::Display, other: &dyn std::fmt::Display| {
        Some(format!("{what} {one} and {other}"))
    };
    let unlike = |what: &str, one: String, other: String| {
        (one != other).then(|| told(what, &one, &other)).flatten()
    };
    let shape = |plan: &Plan| match plan.load {
        Load::Closed { pipeline: 1, .. } => "closed loop".to_owned(),
        Load::Closed { pipeline, .. } => format!("closed loop, {pipeline} in flight on each"),
        Load::Open { rate, arrivals, .. } => {
            let changes = if rate.is_constant() { "a" } else { "a changing" };
            format!("open loop, {changes} rate, {arrivals:?} arrivals")
        }
    };
    let length = |plan: &Plan| match (plan.limits.duration_ns, plan.limits.requests) {
        (Some(ns), _) => format!("{} s", ns as f64 / 1e9),
        (None, requests) => {
            format!("{} by count", if requests.is_some() { "ended" } else { "not" })
        }
    };
    let keeps = |plan: &Plan| match plan.connections.keep_alive {
        true => "reused".to_owned(),
        false => "one per request".to_owned(),
    };
    unlike("URL", one.target.url.clone(), other.target.url.clone())
        .or_else(|| unlike("method", one.requests.method.clone(), other.requests.method.clone()))
        .or_else(|| unlike("HTTP", one.http_version(), other.http_version()))
        .or_else(|| unlike("load:", shape(one), shape(other)))
        .or_else(|| unlike("length:", length(one), length(other)))
        .or_else(|| unlike("connections", keeps(one), keeps(other)))
        .or_else(|| {
            let expected = |plan: &Plan| format!("{:?}", plan.expect);
            unlike("expected statuses", expected(one), expected(other))
        })
        .or_else(|| {
            let same = one.requests.templates == other.requests.templates
                && one.requests.order == other.requests.order;
            (!same).then(|| "their requests are not the same bytes".to_owned())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let saved = &ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
        ablaze_report::json::load(saved).unwrap().run
    }

    fn both(change: impl FnOnce(&mut Run)) -> Result<Run, String> {
        let (one, mut other) = (run(), run());
        change(&mut other);
        merged(vec![("a.json".to_owned(), one), ("b.json".to_owned(), other)])
    }

    #[test]
    fn two_shards_are_twice_the_run_and_lose_nothing() {
        let one = run();
        // The other began 300 ms later.
        let whole = both(|run| run.started_unix_ns += 300_000_000).ok().unwrap();
        assert_eq!(whole.record.responses, 2 * one.record.responses);
        assert_eq!(whole.record.failures_total(), 2 * one.record.failures_total());
        assert_eq!(whole.elapsed_ns, one.elapsed_ns + 300_000_000);
        assert_eq!(whole.plan.load.connections(), 2 * one.plan.load.connections());
        assert_eq!(whole.workers.len(), 2 * one.workers.len());
        let (all, half) = (&whole.record.answered.total, &one.record.answered.total);
        assert_eq!(all.count(), 2 * half.count());
        for q in [0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            assert_eq!(all.quantile_ns(q), half.quantile_ns(q), "{q}");
        }
        let responses =
            |run: &Run| run.record.slices.slices.iter().map(|s| s.responses).sum::<u64>();
        assert_eq!(responses(&whole), 2 * responses(&one));
        let together = OfShards { count: 2, together_ns: one.elapsed_ns - 300_000_000 };
        assert_eq!(whole.shards, Some(together));
        let slices = |run: &Run| run.record.slices.slices.len();
        assert_eq!(slices(&whole), slices(&one) + 3);
        // One that was ended early is a shard only where that is known.
        let early = |run: &mut Run| run.elapsed_ns /= 10;
        assert!(both(early).is_err());
        let (mut ended, other) = (run(), run());
        early(&mut ended);
        let mut shards = Shards::of_one_run();
        shards.add("a".to_owned(), ended).unwrap();
        shards.add("b".to_owned(), other).unwrap();
        // What is no shard leaves the others as they are.
        let mut foreign = run();
        foreign.plan.target.url = "http://h/b".into();
        assert!(shards.add("c".to_owned(), foreign).is_err());
        let both = shards.whole().unwrap();
        assert_eq!(both.record.responses, 2 * one.record.responses);
        assert_eq!(both.plan.workers.count_reason, "2 shards");
        // It can be kept and read back.
        let text = ablaze_report::json::write(&ablaze_verdict::live::assessed(whole));
        assert_eq!(ablaze_report::json::load(&text).unwrap().run.record.responses, 40_000);
    }

    #[test]
    fn merged_times_are_bucket_for_bucket_those_of_one_recorder() {
        let mut one = ablaze_stats::Latency::new(4);
        let mut shards: Vec<Run> = (0..4).map(|_| run()).collect();
        for shard in &mut shards {
            shard.record.answered.total = ablaze_stats::Latency::new(4);
        }
        // From 1 µs to some seconds, each to another shard in turn.
        for number in 0..20_000u64 {
            let time_ns = 1_000 + number * number * 13 + number % 7;
            one.record(time_ns);
            shards[number as usize % 4].record.answered.total.record(time_ns);
        }
        let named = shards.into_iter().enumerate().map(|(at, run)| (format!("{at}"), run));
        let whole = merged(named.collect()).unwrap();
        let buckets = |latency: &ablaze_stats::Latency| latency.recorded().collect::<Vec<_>>();
        assert_eq!(buckets(&whole.record.answered.total), buckets(&one));
    }

    #[test]
    fn other_work_is_refused_and_named() {
        let refused = |change: fn(&mut Run)| both(change).err().unwrap_or_default();
        for (text, part) in [
            (
                refused(|run| run.plan.target.url = "http://h/b".into()),
                "URL http://127.0.0.1:8080/ and http://h/b",
            ),
            (refused(|run| run.plan.requests.method = "POST".into()), "method GET and POST"),
            (refused(|run| run.plan.connections.keep_alive ^= true), "connections "),
            (refused(|run| run.plan.limits.duration_ns = Some(5_000_000_000)), "length: "),
            (
                refused(|run| run.plan.load = Load::Closed { connections: 100, pipeline: 2 }),
                "and closed loop, 2 in flight on each",
            ),
            (refused(|run| run.started_unix_ns += run.elapsed_ns), "did not run at the same time"),
        ] {
            assert!(text.starts_with("a.json and b.json ") && text.contains(part), "{text}");
        }
    }
}
