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

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_a_stranger_none() {
        let words = ["load", "serve", "gurl", "sweep"];
        assert_eq!(nearest("laod", &words), Some("load"));
        assert_eq!(nearest("serv", &words), Some("serve"));
        assert_eq!(nearest("gulr", &words), Some("gurl"));
        assert_eq!(nearest("kubernetes", &words), None);
    }
}
