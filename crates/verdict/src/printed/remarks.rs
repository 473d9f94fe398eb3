//! What a text says beside its reports.

/// How many pictures a line shows.
pub fn images(line: &str) -> usize {
    line.matches("<img ").count() + line.matches("![").count()
}

/// Whether the line says that the best of several runs is shown, in the two languages this has
/// been seen in.
pub fn says_best_of(line: &str) -> bool {
    let line = line.to_lowercase();
    let best = ["highest", "best", "largest", "maximum", "最高", "最大", "最好"];
    let several = [
        "of three",
        "of 3",
        "among the three",
        "three times",
        "3 times",
        "of five",
        "of 5",
        "among the five",
        "five times",
        "5 times",
        "三次",
        "3次",
        "五次",
        "5次",
    ];
    best.iter().any(|word| line.contains(word)) && several.iter().any(|word| line.contains(word))
}
