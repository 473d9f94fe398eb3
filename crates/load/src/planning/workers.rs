//! How many worker threads, and on which CPUs.

use ablaze_model::plan::Workers;
use ablaze_model::spec::WorkersSpec;

use crate::Error;
use crate::planning::OptionNames;

/// The CPUs there are to work on.
#[derive(Debug, Clone, PartialEq)]
pub struct Cpus {
    /// Those the affinity mask permits; empty when unknown.
    pub allowed: Vec<u32>,
    /// The control group's quota, in CPUs.
    pub quota: Option<f64>,
}

impl Cpus {
    /// What the kernel grants this process.
    pub fn of_this_process() -> Self {
        Self {
            allowed: ablaze_sys::allowed_cpus().unwrap_or_default(),
            quota: ablaze_sys::quota::cpu_quota(),
        }
    }

    /// How many can be used at the same time, and how to say so. Part of a CPU is none: a thread
    /// that is stopped for the rest of each period would measure the stops.
    fn usable(&self) -> (u32, String) {
        let allowed = match self.allowed.len() {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
            count => count as u32,
        };
        match self.quota {
            Some(quota) if quota < f64::from(allowed) => {
                let usable = (quota.floor() as u32).max(1);
                (usable, format!("the {usable} {} of the quota", plural(usable, "CPU")))
            }
            _ => (allowed, format!("the {allowed} {} allowed", plural(allowed, "CPU"))),
        }
    }
}

/// Chooses the number of workers (DESIGN: `-t` auto is the smaller of connections and CPUs, and
/// half of the CPUs, at least one, when the target is on this host) and says why. `on_this_host`:
/// who of those that the connections reach is, if anyone.
///
/// # Errors
/// When no thread or a CPU that this process may not use is asked for.
pub fn choose(
    asked: &WorkersSpec,
    connections: u32,
    on_this_host: Option<&str>,
    cpus: &Cpus,
    names: &OptionNames,
    notes: &mut Vec<String>,
) -> Result<Workers, Error> {
    refuse_foreign_cpu(&asked.cpus, cpus)?;
    let (usable, usable_text) = cpus.usable();
    let (count, count_reason) = match asked.threads {
        Some(0) => {
            let option = names.threads;
            return Err(Error::usage(format!("0 threads do nothing: use {option} 1 or more")));
        }
        Some(threads) if threads > connections => {
            notes.push(format!(
                "{} {threads} is more than the {connections} {}: using {connections} {}",
                names.threads,
                plural(connections, "connection"),
                plural(connections, "thread")
            ));
            (connections, "one per connection".to_owned())
        }
        Some(threads) => {
            if threads > usable && !names.typed {
                notes.push(format!("{threads} threads are more than {usable_text}"));
            } else if threads > usable {
                notes.push(format!(
                    "{} {threads} sets threads, more than {usable_text}; for connections use {}, \
                     for a time limit {} {threads}s",
                    names.threads, names.connections, names.duration
                ));
            }
            (threads, "as asked".to_owned())
        }
        None if !asked.cpus.is_empty() => {
            let count = asked.cpus.len() as u32;
            limited(count, "one per CPU of --cpus".to_owned(), connections)
        }
        None if usable > 1
            && let Some(who) = on_this_host =>
        {
            let reason = format!("half of {usable_text}, the {who} is on this host");
            limited(usable / 2, reason, connections)
        }
        None => limited(usable, format!("one per CPU of {usable_text}"), connections),
    };
    Ok(Workers {
        count,
        count_reason,
        cpus: asked.cpus.clone(),
        io: asked.io,
        spin: asked.spin,
        // A target on this host needs one CPU at least.
        cpus_to_spare: usable >= count.saturating_add(u32::from(on_this_host.is_some())),
    })
}

/// Looks for a CPU of `--cpus` that this process may not use.
///
/// # Errors
/// When there is one.
pub fn refuse_foreign_cpu(asked: &[u32], cpus: &Cpus) -> Result<(), Error> {
    let is_allowed = |cpu: &u32| cpus.allowed.is_empty() || cpus.allowed.contains(cpu);
    match asked.iter().find(|cpu| !is_allowed(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(Error::usage(format!(
            "CPU {cpu} of --cpus is not available to this process: use {}",
            ranges(&cpus.allowed)
        ))),
    }
}

fn limited(count: u32, reason: String, connections: u32) -> (u32, String) {
    if connections < count {
        (connections, "one per connection".to_owned())
    } else {
        (count, reason)
    }
}

fn plural(count: u32, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// `[0, 1, 2, 5]` as `0-2,5`.
fn ranges(numbers: &[u32]) -> String {
    let mut pieces: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match pieces.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => pieces.push((number, number)),
        }
    }
    let piece = |&(start, end): &(u32, u32)| {
        if start == end { start.to_string() } else { format!("{start}-{end}") }
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(count: u32, quota: Option<f64>) -> Cpus {
        Cpus { allowed: (0..count).collect(), quota }
    }

    #[test]
    fn the_number_of_workers_follows_cpus_connections_and_where_the_target_is() {
        // (CPUs, quota, connections, on this host, -t, expected)
        let table = [
            (8, None, 50, false, None, 8),
            (8, None, 50, true, None, 4),
            (8, None, 3, true, None, 3),
            (8, None, 1, false, None, 1),
            (1, None, 50, true, None, 1),
            (3, None, 50, true, None, 1),
            (64, Some(2.0), 50, false, None, 2),
            (64, Some(2.9), 50, false, None, 2),
            (64, Some(0.5), 50, false, None, 1),
            (64, Some(4.0), 50, true, None, 2),
            (2, Some(8.0), 50, false, None, 2),
            (2, None, 50, true, Some(7), 7),
            (2, None, 5, true, Some(7), 5),
        ];
        for (count, quota, connections, local, threads, expected) in table {
            let asked = WorkersSpec { threads, ..WorkersSpec::default() };
            let workers = choose(
                &asked,
                connections,
                local.then_some("target"),
                &cpus(count, quota),
                &OptionNames::NATIVE,
                &mut Vec::new(),
            )
            .unwrap();
            assert_eq!(workers.count, expected, "{count} {quota:?} {connections} {local}");
            assert!(!workers.count_reason.is_empty());
        }
    }

    #[test]
    fn cpus_are_to_spare_when_workers_and_a_target_here_leave_each_other_alone() {
        // (CPUs, threads, on this host, expected)
        let table =
            [(2, 1, true, true), (1, 1, true, false), (2, 2, true, false), (2, 2, false, true)];
        for (count, threads, local, expected) in table {
            let asked = WorkersSpec { threads: Some(threads), ..WorkersSpec::default() };
            let workers = choose(
                &asked,
                9,
                local.then_some("target"),
                &cpus(count, None),
                &OptionNames::NATIVE,
                &mut Vec::new(),
            )
            .unwrap();
            assert_eq!(workers.cpus_to_spare, expected, "{count} {threads} {local}");
        }
    }

    #[test]
    fn given_cpus_carry_one_worker_each_and_must_be_allowed() {
        let asked = |cpus: &[u32]| WorkersSpec { cpus: cpus.into(), ..WorkersSpec::default() };
        let workers = choose(
            &asked(&[0, 2]),
            50,
            Some("target"),
            &cpus(4, None),
            &OptionNames::NATIVE,
            &mut Vec::new(),
        )
        .unwrap();
        assert_eq!((workers.count, workers.cpus), (2, vec![0, 2]));
        let refusal = choose(
            &asked(&[4]),
            50,
            Some("target"),
            &cpus(4, None),
            &OptionNames::NATIVE,
            &mut Vec::new(),
        )
        .unwrap_err();
        assert!(
            refusal.to_string().contains("CPU 4") && refusal.to_string().contains("0-3"),
            "{refusal}"
        );
    }

    #[test]
    fn more_threads_than_cpus_are_granted_with_a_word_about_the_options_meant() {
        let mut notes = Vec::new();
        let asked = WorkersSpec { threads: Some(30), ..WorkersSpec::default() };
        choose(&asked, 100, Some("target"), &cpus(2, None), &OptionNames::NATIVE, &mut notes)
            .unwrap();
        assert!(notes[0].contains("-c") && notes[0].contains("-d 30s"), "{notes:?}");
    }

    #[test]
    fn cpu_lists_are_printed_short() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
