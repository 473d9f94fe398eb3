//! What was meant: the nearest of the words that there are.

/// The candidate that takes the fewest changed letters, if few enough to be a slip of the
/// finger: at most a third of the word, and at least one.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let permitted = (word.chars().count() / 3).max(1);
    let (distance, best) =
        candidates.iter().map(|candidate| (changes(word, candidate), *candidate)).min()?;
    (distance <= permitted).then_some(best)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of two
/// neighbours (Boytsov, "Indexing methods for approximate dictionary searching", 2011, 2.1).
fn changes(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let differs = usize::from(left[i - 1] != right[j - 1]);
                    let mut least = (table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1)
                        .min(table[i - 1][j - 1] + differs);
                    if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]
                    {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    table[left.len()][right.len()]
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
