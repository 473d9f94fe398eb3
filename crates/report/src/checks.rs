//! Checks in words: which share of the responses passed each, what failed instead, and samples of what failed.

use ablaze_model::Run;
use ablaze_model::printable::printable;
use ablaze_model::record::{CheckRecord, Checks, Message, Sample};

use crate::number::{bytes, counted, grouped, percent, time};

/// The share of all checks that passed, and what stands behind it.
pub(crate) fn summary(checks: &Checks) -> (String, Vec<String>) {
    if checks.responses == 0 {
        return ("-".to_owned(), vec!["they looked at no response".to_owned()]);
    }
    let sum = |of: fn(&CheckRecord) -> u64| checks.each.iter().map(of).fold(0, u64::saturating_add);
    let (passed, all) = (sum(|check| check.passed), sum(CheckRecord::looked_at));
    let items = vec![
        format!("of {} passed", counted(all, "check")),
        format!(
            "{} of {} failed",
            grouped(checks.failed_responses),
            counted(checks.responses, "response")
        ),
    ];
    (percent(passed as f64, all as f64), items)
}

/// A check as it was written, up to so many characters.
pub(crate) fn text(check: &CheckRecord, most: usize) -> String {
    let text = printable(&check.text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// The share of responses that passed it. A share of nothing would read as all of them, or none.
pub(crate) fn share(check: &CheckRecord) -> String {
    match check.looked_at() {
        0 => "looked at no response".to_owned(),
        all => percent(check.passed as f64, all as f64),
    }
}

/// What the first response that failed was instead.
pub(crate) fn first(check: &CheckRecord) -> String {
    check.first.as_ref().map_or_else(String::new, |first| printable(&first.text).into_owned())
}

/// A line for each check of a run, for reports that have no place for them: `status==200 failed on 200 of 20,000 responses; the first
/// time it is 500`. Empty where nothing is checked.
pub fn in_words(run: &Run) -> Vec<String> {
    let checks = run.record.checks.iter().flat_map(|checks| &checks.each);
    let line = |check: &CheckRecord| {
        let text = printable(&check.text);
        let all = counted(check.looked_at(), "response");
        match (check.looked_at(), check.failed) {
            (0, _) => format!("{text} looked at no response"),
            (_, 0) => format!("{text} passed on {all}"),
            (_, failed) => {
                format!(
                    "{text} failed on {} of {all}; the first time {}",
                    grouped(failed),
                    first(check)
                )
            }
        }
    };
    checks.map(line).collect()
}

/// A sample as lines: when it was, what failed, what was sent (`>`) and what came (`<`), each with at most so many lines.
pub(crate) fn lines(sample: &Sample, most: usize) -> Vec<String> {
    let step = sample.step.iter().map(|step| format!("{}: ", printable(step)));
    let step: String = step.collect();
    let at = format!(
        "{step}request {}, status {}, after {}, {} after the start:",
        grouped(sample.number),
        sample.status,
        time(sample.total_ns as f64),
        time(sample.at_ns as f64)
    );
    let failed = sample.failed.iter().map(|text| format!("  {}", printable(text)));
    let mut lines: Vec<String> = [at].into_iter().chain(failed).collect();
    lines.extend(message("> ", &sample.request, most));
    lines.extend(message("< ", &sample.response, most));
    lines
}

fn message(mark: &str, message: &Message, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut part = |text: &[String], cut: String| {
        let shown = text.iter().take(most);
        lines.extend(shown.map(|line| format!("{mark}{}", printable(line)).trim_end().to_owned()));
        if !cut.is_empty() {
            lines.push(format!("{mark}[{cut}]"));
        }
    };
    let more = |lines: &[String]| match lines.len().saturating_sub(most) {
        0 => String::new(),
        left => counted(left as u64, "more line"),
    };
    let head_cut = match message.head_is_cut {
        true => "the head is longer".to_owned(),
        false => more(&message.head),
    };
    part(&message.head, head_cut);
    if message.body_bytes > 0 {
        part(&[String::new()], String::new());
        let length = match message.body_bytes {
            few @ ..1024 => format!("{few} B"),
            many => bytes(many as f64),
        };
        let body_cut = match (message.body_is_cut, message.body.is_empty()) {
            (true, true) => format!("a body of {length}, not kept"),
            (true, false) => format!("a body of {length}, cut here"),
            (false, _) => more(&message.body),
        };
        part(&message.body, body_cut);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::text::{self, Style};

    #[test]
    fn the_report_has_a_line_for_each_check_and_shows_one_that_failed() {
        let assessed = sample::assessed(&sample::checked());
        let text = text::write(&assessed, &Style::default());
        for part in [
            "  checks           99.7 %    of 60,000 checks passed    200 of 20,000 responses failed\n",
            "status==200                     99.0 %  19,800 passed  200 failed   it is 500\n",
            "json $.id > 0                    100 %  20,000 passed    0 failed\n",
            "header x exists  looked at no response       0 passed    0 failed\n",
            "1 of 200 responses that failed\n",
            "request 7, status 500, after 2.00 ms, 1.50 s after the start:\n",
            "    status==200: it is 500\n",
            "  > Authorization: ***\n",
            "  < HTTP/1.1 500 Internal Server Error\n",
            "  < {\"error\": \"<b>\"}\n",
            "  < [a body of 97.7 KiB, cut here]\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_body_that_was_not_kept_has_a_whole_number_of_bytes() {
        let of = |body_bytes| Message { body_bytes, body_is_cut: true, ..Message::default() };
        assert_eq!(message("< ", &of(14), 3).last().unwrap(), "< [a body of 14 B, not kept]");
        assert_eq!(message("< ", &of(1024), 3).last().unwrap(), "< [a body of 1.00 KiB, not kept]");
    }

    #[test]
    fn the_page_has_every_sample_folded_and_escaped() {
        let assessed = sample::assessed(&sample::checked());
        let page = crate::page::of_run(&assessed).html();
        assert!(page.contains("<summary>1 of 200 responses that failed</summary>"));
        assert!(page.contains("{&quot;error&quot;: &quot;&lt;b&gt;&quot;}"));
        let csv = crate::csv::write(&assessed.run);
        assert!(csv.contains("check:status==200,passed,19800,responses\r\n"), "{csv}");
        assert!(csv.contains("check:status==200,failed,200,responses\r\n"), "{csv}");
        assert!(csv.contains("run,failed_checks,200,responses\r\n"), "{csv}");
    }

    #[test]
    fn a_run_without_responses_says_that_nothing_was_checked() {
        let checks = Checks::new(["status==200"]);
        assert_eq!(summary(&checks), ("-".into(), vec!["they looked at no response".into()]));
        assert_eq!(share(&checks.each[0]), "looked at no response");
    }
}
