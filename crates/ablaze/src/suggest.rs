//! What was meant: the nearest of the words that there are.

/// The candidate that takes the fewest changed letters, if few enough to be a slip of the
/// finger: at most a third of the word, and at least one.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let permitted = (word.chars().count() / 3).max(1);
    // Insertions, deletions, substitutions and swaps of two neighbours.
    let changes = |candidate: &'a str| strsim::osa_distance(word, candidate);
    let (distance, best) =
        candidates.iter().map(|candidate| (changes(candidate), *candidate)).min()?;
    (distance <= permitted).then_some(best)
}

/// The known option that negates this one, `--no-keepalive` for `--keepalive`: what was asked for is
/// the default then, and the nearest option its opposite.
pub fn negative<'a>(option: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = |option: &str| option.replace('-', "");
    let opposite = format!("no{}", letters(option));
    known.iter().find(|name| option.starts_with("--") && letters(name) == opposite).copied()
}

#[cfg(test)]
mod tests {
    use super::{nearest, negative};

    #[test]
    fn the_opposite_of_a_wish_is_no_suggestion() {
        let known = ["--no-keepalive", "--no-monitor", "--notes"];
        assert_eq!(negative("--keepalive", &known), Some("--no-keepalive"));
        assert_eq!(negative("--keep-alive", &known), Some("--no-keepalive"));
        assert_eq!(negative("--monitor", &known), Some("--no-monitor"));
        assert_eq!(negative("--moniter", &known), None);
        assert_eq!(negative("-tes", &known), None);
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_a_stranger_none() {
        let words = ["load", "serve", "gurl", "sweep"];
        assert_eq!(nearest("laod", &words), Some("load"));
        assert_eq!(nearest("serv", &words), Some("serve"));
        assert_eq!(nearest("gulr", &words), Some("gurl"));
        assert_eq!(nearest("kubernetes", &words), None);
    }
}
