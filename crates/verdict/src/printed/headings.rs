//! The headings that a report stands below: the path of them is a part of its label.

use super::Text;

/// What stands between a heading and the next lower one.
pub const BELOW: &str = " › ";

/// What a label has of the headings above the lowest one.
pub fn sections(label: &str) -> Option<&str> {
    label.rsplit_once(BELOW).map(|(above, _)| above)
}

/// Takes away what all reports are below, such as the title of the document: it tells none from the others. The lowest
/// heading stays.
pub fn without_common(text: &mut Text) {
    loop {
        let of_reports = text.reports.iter_mut().map(|report| &mut report.label);
        let of_rates = text.rates.iter_mut().map(|rate| &mut rate.label);
        let labels: Vec<&mut Option<String>> = of_reports.chain(of_rates).collect();
        let highest =
            |label: &Option<String>| Some(label.as_deref()?.split_once(BELOW)?.0.to_owned());
        let Some(common) = labels.first().and_then(|label| highest(label)) else { return };
        if labels.iter().any(|label| highest(label).as_ref() != Some(&common)) {
            return;
        }
        for label in labels.into_iter().flatten() {
            label.drain(..common.len() + BELOW.len());
        }
    }
}
