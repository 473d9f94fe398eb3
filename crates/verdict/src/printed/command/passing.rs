//! Commands that a sentence names in passing, as an example: no report need be the output of one.

/// Words by which a sentence names an example, or where to learn of the tool.
const EXAMPLE: [&str; 12] = [
    "e.g.",
    "eg.",
    "i.e.",
    "for example",
    "for instance",
    "such as",
    "something like",
    "example:",
    "usage:",
    "you can ",
    "如：",
    "例如",
];

/// A sentence has more words than this beside the code in it.
const SENTENCE_WORDS: usize = 6;

/// Whether what stands around the command in a line does not say that it was run.
pub fn is_in_passing(raw: &str) -> bool {
    // Every other part is code.
    let prose = raw.split('`').step_by(2).collect::<Vec<&str>>().join(" ");
    let words = prose.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
    let has_code = raw.matches('`').count() >= 2;
    let is_example = EXAMPLE.iter().any(|word| prose.to_lowercase().contains(word));
    is_example || has_code && words > SENTENCE_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_run_is_told_from_an_example() {
        for line in [
            "Install it, then e.g. `ab -n 9 http://h/` (see its manual).",
            "For example: ab -n 9 http://h/",
            "The manual of the tool tells that `ab -n 9 http://h/` sends nine requests.",
        ] {
            assert!(is_in_passing(line), "{line}");
        }
        for line in [
            "$ ab -n 9 http://h/",
            "1. `ab -n 9 http://h/`",
            "I ran `ab -n 9 http://h/`:",
            "Command: `ab -n 9 http://h/`",
        ] {
            assert!(!is_in_passing(line), "{line}");
        }
    }
}
