//! The words that a report is named after, and what stands beside one and names nothing.

/// Names of reports longer than this are cut.
const LABEL_CHARACTERS: usize = 40;

/// What tools print before the report; nothing to name it after.
pub fn is_progress(line: &str) -> bool {
    [
        "Benchmarking ",
        "Completed ",
        "Finished ",
        "..done",
        "Copyright 1996 ",
        "Licensed to The Apache",
        "Licensed under MIT or Apache",
        "[#/sec]",
    ]
    .iter()
    .any(|start| line.contains(start))
}

/// A tag alone on its line, as `ab -w` has above its table.
pub fn is_markup(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>')
}

/// The words before a figure on its own line.
pub fn beside(before: &str) -> Option<String> {
    let name = before.trim_end_matches(|c: char| c.is_whitespace() || ":：,-*`".contains(c));
    shortened(name)
}

pub fn shortened(text: &str) -> Option<String> {
    let text = text.replace(['`', '*'], "");
    let text = text.trim().trim_matches([':', '：']).trim();
    let mut name: String = text.chars().take(LABEL_CHARACTERS).collect();
    if name.len() < text.len() {
        name.push('…');
    }
    (!name.is_empty()).then_some(name)
}
