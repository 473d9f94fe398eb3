//! What profiling came to, in words and rows, for the terminal and the page alike.

use ablaze_model::Run;
use ablaze_model::profiling::{MOST_FRAMES, NotProfiled, Profile, ProfiledRun, Whom};
use ablaze_profile::folded::PerRequest;
use ablaze_profile::hottest::hottest;
use ablaze_profile::names::{IN_KERNEL, INLINED, shortened};

use crate::effort::{self, Effort};
use crate::number::{counted, grouped, percent, rate, significant, time};

/// Fewer samples than this say little: a function of a tenth of the time is known to a fifth of that
/// (1.96 √(0.1 · 0.9 / 1000) is 1.9 points).
const FEW_SAMPLES: u64 = 1_000;
/// So much of a stack is looked at, of 1000 bytes.
const STACK_KB: u32 = ablaze_model::profiling::STACK_BYTES / 1000;
/// From this share on, stacks that do not reach their beginning are worth a word.
const BROKEN: f64 = 0.1;

/// `12,034 samples of cpu-clock at 999 Hz represent 4.71 µs of CPU per request (nginx, pid 4711)`.
pub fn headline(profile: &Profile) -> String {
    let processes = match profile.pids.as_slice() {
        [pid] => format!("pid {pid}"),
        pids => format!("{} processes", grouped(pids.len() as u64)),
    };
    format!(
        "{} of {} at {} Hz represent {} of CPU per request ({}, {processes})",
        counted(profile.samples, "sample"),
        profile.event,
        grouped(profile.frequency_hz.into()),
        time(profile.cpu_per_request_ns),
        profile.name,
    )
}

/// What to keep in mind with a profile.
pub fn doubts(profile: &Profile) -> Vec<String> {
    let mut doubts = Vec::new();
    let share = |part: u64| percent(part as f64, profile.samples as f64);
    if profile.samples < FEW_SAMPLES {
        doubts.push(format!(
            "Few samples: shares are uncertain by several points. Profile for longer (--duration) to get \
             {} or more.",
            grouped(FEW_SAMPLES)
        ));
    }
    if profile.lost > 0 {
        doubts.push(format!(
            "{} were lost because they were not read in time.",
            counted(profile.lost, "sample")
        ));
    }
    if profile.broken as f64 > BROKEN * profile.samples as f64 {
        doubts.push(format!(
            "The stacks of {} of the {}'s samples ({}) do not reach the start of their thread: \
             callers are missing, but the functions themselves are right. {}",
            share(profile.broken),
            side(profile.of),
            profile.name,
            why_broken(profile)
        ));
    }
    if !profile.kernel {
        doubts.push(
            "Without the kernel, which this user is not permitted to profile: the times are user \
             mode only. `sudo sysctl kernel.perf_event_paranoid=1` adds the rest."
                .to_owned(),
        );
    }
    doubts
}

/// Why stacks do not reach the start of their thread, as far as is known: what is advised is of the functions they end in.
fn why_broken(profile: &Profile) -> String {
    const COMPILE: &str = "-fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes)";
    let too_long =
        format!("stacks longer than the {STACK_KB} kB or {MOST_FRAMES} calls that are examined");
    let Some(ends) = &profile.broken_ends else {
        return format!(
            "If the program or a library has neither unwind tables (.eh_frame) nor frame pointers, compile it with {COMPILE}. \
             Code that is made at run time (a JIT) and stacks that the program itself made (coroutines) look the same, as do \
             {too_long}."
        );
    };
    let share = |part: u64| percent(part as f64, profile.samples as f64);
    let mut said = Vec::new();
    if ends.without_table > 0 {
        said.push(format!(
            "{} of all samples end in functions of {} that have no unwind table (.eh_frame): where these have no frame pointers \
             either, compile them with {COMPILE}.",
            share(ends.without_table),
            ends.files.join(", ")
        ));
    }
    if ends.without_file > 0 {
        said.push(format!(
            "{} of all samples end in memory that no file is mapped into, as that of code made at run time (a JIT) is. \
             Some runtimes have an option that keeps frame pointers there (Java: -XX:+PreserveFramePointer).",
            share(ends.without_file)
        ));
    }
    let others = profile.broken.saturating_sub(ends.without_table + ends.without_file);
    if others > 0 {
        said.push(format!(
            "{} of all samples end in functions that have an unwind table, or at an address that is not known: it may be {too_long}, \
             or stacks that the program itself made (coroutines).",
            share(others)
        ));
    }
    said.join(" ")
}

/// The column of a function's own time in [`table`], which descends by it.
pub const BY_ITSELF: usize = 1;

/// The hottest functions, at most so many by their own time and so many by that with what they call: CPU time per request
/// of each by itself, its share, and with what it calls.
pub fn table(
    profile: &Profile,
    by_own: usize,
    by_through: usize,
) -> (Vec<String>, Vec<Vec<String>>) {
    let per_request = PerRequest::of(profile);
    let total_ns = per_request.total_ns();
    let head = ["function", "itself", "share", "with callees"].map(String::from).to_vec();
    let rows = hottest(&per_request, by_own, by_through).into_iter().map(|function| {
        vec![
            readable(&function.name),
            time(function.own_ns),
            percent(function.own_ns, total_ns),
            time(function.through_ns),
        ]
    });
    (head, rows.collect())
}

/// A function as people call it: `tcp_sendmsg (kernel)`; long arguments of templates are left out.
pub fn readable(name: &str) -> String {
    if let Some(name) = name.strip_suffix(IN_KERNEL) {
        return format!("{name} (kernel)");
    }
    let inlined = name.strip_suffix(INLINED);
    inlined.map_or_else(|| shortened(name), |name| format!("{} (inlined)", shortened(name)))
}

/// What the run with the profiler did beside the one without.
pub fn cost(run: &Run, profiled: &ProfiledRun) -> String {
    let mut parts = Vec::new();
    if let Some(before) = run.rate_per_s() {
        parts.push(format!(
            "{}/s instead of {}/s ({})",
            rate(profiled.rate_per_s),
            rate(before),
            change(before, profiled.rate_per_s)
        ));
    }
    let server = effort::of_the_server(run).map(|(ns, _)| ns);
    let client = Effort::of(run).map(|effort| effort.cpu_ns);
    let cpu =
        [("server", server, profiled.server_cpu_ns), ("client", client, profiled.client_cpu_ns)];
    for (who, before, after) in cpu {
        if let (Some(before), Some(after)) = (before, after) {
            parts.push(format!(
                "{who} {} instead of {} of CPU per request ({})",
                time(after),
                time(before),
                change(before, after)
            ));
        }
    }
    format!(
        "{}. One run with the profiler against one without, so this includes noise. All other \
         figures are from the run without.",
        parts.join(", ")
    )
}

/// Why there is no profile.
pub fn refused(refused: &NotProfiled) -> String {
    format!("not profiled: {}", refused.why)
}

/// What a profile is of.
pub fn side(whom: Whom) -> &'static str {
    match whom {
        Whom::Target => "target",
        Whom::Client => "client",
    }
}

/// `+4.2 %`
fn change(before: f64, after: f64) -> String {
    if before <= 0.0 {
        return "-".to_owned();
    }
    let percent = (after / before - 1.0) * 100.0;
    let sign = if percent < 0.0 { '−' } else { '+' };
    format!("{sign}{} %", significant(percent.abs(), 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ablaze_model::profiling::BrokenEnds;

    fn profile() -> Profile {
        sample::profiling::profiling().profiles.remove(0)
    }

    #[test]
    fn what_is_doubtful_is_said_and_nothing_else() {
        let mut profile = profile();
        profile.lost = 0;
        profile.broken = 0;
        assert_eq!(doubts(&profile), Vec::<String>::new());
        profile.broken = profile.samples / 5;
        let said = &doubts(&profile)[0];
        assert!(said.contains("20 % of the target's samples (nginx)"), "{said}");
        assert!(said.contains("frame-pointer"), "{said}");
        // What is known of where they end is said, and nothing else.
        assert!(said.contains("20 % of all samples end in functions of nginx that have no unwind"));
        assert!(!said.contains("JIT") && !said.contains("coroutines"), "{said}");
        let without_file = profile.broken / 2;
        profile.broken_ends = Some(BrokenEnds { without_file, ..BrokenEnds::default() });
        let said = &doubts(&profile)[0];
        assert!(!said.contains("frame-pointer"), "it has tables: {said}");
        assert!(said.contains("10 % of all samples end in memory that no file is"), "{said}");
        assert!(said.contains("10 % of all samples end in functions that have"), "{said}");
        // Files of earlier versions do not say where.
        profile.broken_ends = None;
        let said = &doubts(&profile)[0];
        // Node and Java run code that no compiler option reaches.
        assert!(
            said.contains("If the program or a library has") && said.contains("(a JIT)"),
            "{said}"
        );
        profile.kernel = false;
        assert!(doubts(&profile)[1].contains("perf_event_paranoid"));
        profile.samples = 10;
        assert!(doubts(&profile)[0].starts_with("Few samples"));
    }

    #[test]
    fn the_cost_is_told_from_both_runs() {
        let run = sample::ordinary();
        let profiled = sample::profiling::profiling().run.unwrap();
        let text = cost(&run, &profiled);
        // 2,000/s and 480 µs without, 1,900/s and 500 µs with the profiler.
        assert!(text.contains("1,900/s instead of 2,000/s (−5.0 %)"), "{text}");
        assert!(
            text.contains("server 500 µs instead of 480 µs of CPU per request (+4.2 %)"),
            "{text}"
        );
        assert!(text.contains("client 3.70 µs instead of 3.60 µs"), "{text}");
    }

    #[test]
    fn the_table_adds_up_to_the_cpu_time_per_request() {
        let (_, rows) = table(&profile(), 10, 0);
        let expected = [
            ["tcp_sendmsg (kernel)", "400 µs", "80 %", "400 µs"],
            ["ngx_http_parse_request_line", "100 µs", "20 %", "100 µs"],
        ];
        assert_eq!(rows, expected.map(|row| row.map(String::from).to_vec()));
        assert_eq!(readable("turn_[i]"), "turn (inlined)");
    }
}
