//! A report whose figures somebody lists once more below it, to say what each of them means: that is no other run.

use super::{Printed, Report};

/// Whether each figure of a list stands in the report, to the digit, and the report has more than these.
pub fn repeats(list: &Report, report: &Report) -> bool {
    let has_own = list.announced || list.host.is_some() || list.command.is_some();
    if has_own || !report.tool.has_ab_labels() || !list.tool.has_ab_labels() {
        return false;
    }
    let (listed, whole) = (figures(list), figures(report));
    let stands = |(at, figure): (usize, &Option<Printed>)| match (figure, at) {
        (None, _) => true,
        // Both have one label, and what tells them apart may be left out.
        (Some(_), PER_REQUEST | ACROSS) => [whole[PER_REQUEST], whole[ACROSS]].contains(figure),
        (Some(_), _) => whole[at] == *figure,
    };
    let count = |figures: &[Option<Printed>]| figures.iter().flatten().count();
    let of_table =
        |report: &Report| [report.connect, report.processing, report.waiting, report.total];
    let rows = of_table(list).into_iter().zip(of_table(report));
    listed.iter().enumerate().all(stands)
        && rows.into_iter().all(|(row, whole)| row.is_none() || row == whole)
        && list.percentiles.iter().all(|row| report.percentiles.contains(row))
        && count(&listed) < count(&whole) + report.percentiles.len()
}

const PER_REQUEST: usize = 0;
const ACROSS: usize = 1;

fn figures(report: &Report) -> [Option<Printed>; 13] {
    let exact = |count: Option<u64>| count.map(|count| Printed { value: count as f64, step: 1.0 });
    let bytes = |count: Option<i64>| count.map(|count| Printed { value: count as f64, step: 1.0 });
    [
        report.per_request_ms,
        report.across_ms,
        report.rate_per_s,
        report.taken_s,
        report.kilobytes_per_s,
        report.sent_kilobytes_per_s,
        exact(report.concurrency),
        exact(report.complete),
        exact(report.failed),
        exact(report.write_errors),
        bytes(report.total_bytes),
        bytes(report.body_bytes),
        exact(report.sent_bytes),
    ]
}
