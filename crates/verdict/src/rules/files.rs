//! What the name of a file says of the reports in it, beside those of other files.

use super::comparison::Member;
use crate::printed::{Tool, before_number, target_of_file, without_load_of_file};

/// The same server in two files is two targets, before and after something was changed, unless the
/// files are called `run-1` and `run-2`, or `nginx-run-1` and `nginx-run-2`. A number alone (`nginx_1`) may be that of a
/// run or of a server, and what says the concurrency is a point of a curve.
pub fn of_file(name: &str, members: Vec<Member>) -> Vec<Member> {
    let is_alone = members.len() == 1;
    let own = target_of_file(name);
    let numbers_run = own != name;
    let named = |mut member: Member| {
        let of_point = asked(&member).find_map(|c| without_load_of_file(name, c));
        if let Some(target) = of_point {
            member.identity.push_str(&target);
            member.curve = format!("{target} {}", member.curve);
        } else if let Some(target) = before_number(name).filter(|_| !numbers_run) {
            member.identity.push_str(&target);
            member.told = None;
        } else {
            member.identity.push_str(&own);
            if numbers_run && is_alone {
                member.told = Some(String::new());
            }
        }
        member
    };
    members.into_iter().map(named).collect()
}

/// The concurrencies that may have been asked for: wrk opens none for what is left over when each of its threads has as many
/// as the others.
fn asked(member: &Member) -> impl Iterator<Item = u64> + use<> {
    let work = member.work.as_ref();
    let shares = work.filter(|work| matches!(work.tool, Tool::Wrk | Tool::Wrk2));
    let threads = shares.and_then(|work| work.threads).unwrap_or(1).max(1);
    let opened = member.concurrency;
    opened.into_iter().flat_map(move |opened| opened..opened.saturating_add(threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::printed::{Printed, Text};
    use crate::rules::{comparison, sample};
    use crate::several::{Several, beside_each_other};

    /// What is said of files with one report each, of this concurrency and rate.
    fn found(files: &[(&str, u64, f64)]) -> Several {
        let of = |(name, concurrency, rate): &(&str, u64, f64)| {
            let mut report = sample::ab();
            report.concurrency = Some(*concurrency);
            report.rate_per_s = Some(Printed { value: *rate, step: 0.01 });
            report.taken_s = None;
            let text = Text { reports: vec![report], ..Text::default() };
            of_file(name, comparison::members(&text, 1))
        };
        beside_each_other(files.iter().flat_map(of).collect(), None).unwrap()
    }

    #[test]
    fn files_are_runs_points_or_targets_by_their_names() {
        let evidence = |files: &[(&str, u64, f64)]| {
            let several = found(files);
            let findings = several.findings().iter();
            findings.map(|one| (one.severity, one.evidence.clone())).collect::<Vec<_>>()
        };
        let runs =
            [("x-run-1.txt", 10, 5e3), ("x-run-2.txt", 10, 5.01e3), ("x-run-3.txt", 10, 5.02e3)];
        assert_eq!(evidence(&runs), []);
        let numbers = [
            ("x_1.log", 10, 5e3),
            ("x_2.log", 10, 5.01e3),
            ("y_1.log", 10, 6e3),
            ("y_2.log", 10, 6e3),
        ];
        let said = "4 reports; the text does not say which of them are of one target.".to_owned();
        assert_eq!(evidence(&numbers), [(Severity::Note, said)]);
        let [(severity, said)] = &evidence(&[("a.txt", 10, 5e3), ("b.txt", 10, 6e3)])[..] else {
            panic!()
        };
        assert!(
            *severity == Severity::Suspect && said.contains("Only one run of each of the two"),
            "{said}"
        );
        let points = ["x", "y"].into_iter().flat_map(|server| {
            [10, 100, 400]
                .into_iter()
                .map(move |c| (format!("{server}/c{c}.txt"), c, 5e3 + c as f64))
        });
        let points: Vec<_> = points.collect();
        let points: Vec<_> =
            points.iter().map(|(name, c, rate)| (name.as_str(), *c, *rate)).collect();
        let Several::Curves(curves) = found(&points) else { panic!("two curves") };
        assert_eq!(curves.subject.len(), 2);
    }

    #[test]
    fn the_name_has_what_wrk_was_asked_for() {
        let named = |name: &str, tool| {
            let mut report = sample::ab();
            (report.tool, report.threads, report.concurrency) = (tool, Some(4), Some(10));
            let text = Text { reports: vec![report], ..Text::default() };
            let [member] = &of_file(name, comparison::members(&text, 1))[..] else { panic!() };
            member.curve.clone()
        };
        // 10 connections on 4 threads are 8.
        assert!(named("nginx-c10.txt", Tool::Wrk).starts_with("nginx "));
        assert!(!named("nginx-c12.txt", Tool::Wrk).starts_with("nginx "));
        assert!(!named("nginx-c11.txt", Tool::Ab).starts_with("nginx "));
    }
}
