//! A report of ablaze whose first lines, with its verdict, are not in the text: what is left of them, and how grave its first
//! finding was.

use std::borrow::Cow;

use super::super::line::{cleaned, number};
use super::super::verdict::verdict;
use super::begins_at;
use ablaze_model::finding::{DiagnosisId, Severity};

/// The lines of a verdict go on so much further right than what stands below it.
const INDENT: usize = 8;

/// The text with empty lines in the place of what is left of a verdict above a report, which names nothing.
pub fn without_rests(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_head = |line: &str| line.contains("://") && begins_at(&cleaned(line)).is_some();
    let mut rests = Vec::new();
    for (at, head) in lines.iter().enumerate().filter(|(_, line)| is_head(line)) {
        let is_rest =
            |line: &&&str| !line.trim().is_empty() && indent(line) >= indent(head) + INDENT;
        let above = lines[..at].iter().rev().take_while(is_rest).count();
        let first = (at - above).checked_sub(1).map(|first| cleaned(lines[first]));
        if above > 0 && first.is_none_or(|first| verdict(&first).is_none()) {
            rests.extend(at - above..at);
        }
    }
    if rests.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = lines;
    rests.into_iter().for_each(|at| kept[at] = "");
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Cow::Owned(kept.join("\n") + end)
}

/// How grave a finding is, where its words prove that: no request, or fewer than half of them, got what was wanted.
pub fn proven(id: DiagnosisId, words: &str) -> Option<Severity> {
    let of = match id {
        DiagnosisId::D02 if words.starts_with("No request got a response") => {
            return Some(Severity::Invalid);
        }
        DiagnosisId::D02 => words.split_once(") got no valid response")?.0,
        DiagnosisId::D04 => {
            words.split_once(" responses (").and_then(|(_, rest)| rest.split_once(')'))?.0
        }
        _ => return None,
    };
    let percent = of.rsplit('(').next().and_then(number).filter(|(_, unit)| unit.trim() == "%");
    percent.filter(|(percent, _)| percent.low() > 50.0).map(|_| Severity::Invalid)
}

#[cfg(test)]
mod tests {
    use crate::finding::Verdict;
    use crate::printed::read;
    use crate::rules::judge;

    const HEAD: &str = "GET http://127.0.0.1:19303/ · HTTP/1.1 keep-alive · closed loop, 8 connections · 1 thread, io_uring\n\n";
    const REST: &str = "          server's in 25 threads: what\n          held them up, each other or other processes, does not show\n";

    fn of_d04(share: &str) -> String {
        format!(
            "{HEAD}  3,977 requests/s    p50 270 µs   p95 1.25 ms   p99 2.65 ms [2.55–2.72]   max 10.2 ms   errors 0\n  \
             39,774 responses in 10.000 s · 200: 1 · 500: 39,773 · 1.27 MiB/s\n\n  D04  error pages: {share} did not succeed: \
             500. The rate is that of an error page.\n  D13  shared processors: Other processes used 0.733 of 2.00 CPUs.\n"
        )
    }

    fn of_d02(share: &str) -> String {
        format!(
            "{HEAD}  0 requests/s    errors 3,519\n  0 responses in 2.000 s\n\n  D02  no response: {share}\n       \
             in front of it, resets connections.\n\n  No response came, so there is no latency to show.\n"
        )
    }

    #[test]
    fn what_the_findings_prove_is_not_less_without_the_verdict() {
        for (text, verdict) in [
            (of_d04("39,773 of 39,774 responses (100 %)"), Verdict::Invalid),
            (of_d04("3,977 of 39,774 responses (10 %)"), Verdict::Suspect),
            (
                of_d02("No request got a response in 2.00 s; 8 were still waiting at the end."),
                Verdict::Invalid,
            ),
            (
                of_d02("3,519 of 3,519 requests (100 %) got no valid response: 3,519 reset."),
                Verdict::Invalid,
            ),
            (of_d02("8 requests held 100 % of the 8 places when the run ended."), Verdict::Suspect),
        ] {
            for text in [text.clone(), format!("{REST}{text}"), format!("# nginx\n{REST}{text}")] {
                let judged = judge(&read(&text)).reports.remove(0);
                assert_eq!(judged.verdict(), verdict, "{text}");
                let label = text.starts_with('#').then(|| "nginx".to_owned());
                assert_eq!(judged.subject.label, label, "{text}");
                let first = &judged.findings[0];
                let is_open = first.cause.contains("may be INVALID");
                assert_eq!(is_open, verdict == Verdict::Suspect, "{first:?}");
            }
        }
        // With its line it is what that says.
        let whole = format!(
            "SUSPECT · limit unknown: of 2 CPUs\n{REST}{}",
            of_d04("39,773 of 39,774 responses (100 %)")
        );
        let judged = judge(&read(&whole)).reports.remove(0);
        assert_eq!((judged.verdict(), judged.subject.line), (Verdict::Suspect, 4));
    }
}
