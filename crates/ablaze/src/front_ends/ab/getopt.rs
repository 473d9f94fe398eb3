//! POSIX getopt as ab uses it: letters can be bundled, values attached or separate, the first
//! operand ends the options, `--` does too. New here: `--name`, `--name=value` and
//! `--name value` are native options, which ab has none of.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What the next word, or the next letter of a bundle, turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// An option without a value.
    Flag(u8),
    /// An option and its value.
    Valued(u8, Vec<u8>),
    /// The words of a native option, as they were typed.
    Native(Vec<OsString>),
    /// No native option.
    UnknownNative(OsString),
    /// No option of ab's.
    Unknown(u8),
    /// An option whose value is missing.
    MissingValue(u8),
}

/// Letters of ab's options that take no value.
pub const FLAGS: &[u8] = b"lrkVhwiIdSq";
/// Letters of ab's options that take one.
pub const VALUED: &[u8] = b"nctsbTpuvxyzCHPAgXeBmZfE";

/// Knows of each native option whether it takes a value.
pub type TakesValue<'a> = &'a dyn Fn(&str) -> Option<bool>;

/// Words still to be read.
#[derive(Debug)]
pub struct Words {
    left: VecDeque<OsString>,
    /// Letters of a bundle not looked at yet.
    bundle: Vec<u8>,
}

impl Words {
    /// Reads these words, the program's name not among them.
    pub fn new(words: &[OsString]) -> Self {
        Self { left: words.iter().cloned().collect(), bundle: Vec::new() }
    }

    /// The next option; `None` when only operands are left. `takes_value` knows the native
    /// options: whether the one of this name is followed by a value, `None` if there is none.
    pub fn next(&mut self, takes_value: TakesValue<'_>) -> Option<Found> {
        if self.bundle.is_empty() {
            let word = self.left.front()?.as_bytes();
            match word {
                b"--" => {
                    self.left.pop_front();
                    return None;
                }
                [b'-', b'-', ..] => return Some(self.native(takes_value)),
                [b'-', letters @ ..] if !letters.is_empty() => self.bundle = letters.to_vec(),
                _ => return None,
            }
            self.left.pop_front();
        }
        let letter = self.bundle.remove(0);
        if FLAGS.contains(&letter) {
            return Some(Found::Flag(letter));
        }
        if !VALUED.contains(&letter) {
            return Some(Found::Unknown(letter));
        }
        if !self.bundle.is_empty() {
            return Some(Found::Valued(letter, std::mem::take(&mut self.bundle)));
        }
        Some(match self.left.pop_front() {
            Some(value) => Found::Valued(letter, value.into_vec()),
            None => Found::MissingValue(letter),
        })
    }

    /// What is left when no option is.
    pub fn operands(self) -> Vec<OsString> {
        self.left.into()
    }

    fn native(&mut self, takes_value: TakesValue<'_>) -> Found {
        let word = self.left.pop_front().unwrap_or_default();
        let name = word.as_bytes().strip_prefix(b"--").unwrap_or_default();
        let name_bytes = name.iter().position(|b| *b == b'=').unwrap_or(name.len());
        let has_value = name_bytes < name.len();
        let known = takes_value(&OsStr::from_bytes(&name[..name_bytes]).to_string_lossy());
        match known {
            None => Found::UnknownNative(word),
            Some(true) if !has_value => {
                Found::Native([Some(word), self.left.pop_front()].into_iter().flatten().collect())
            }
            Some(_) => Found::Native(vec![word]),
        }
    }
}

/// C's `atoi` without its overflow: blanks, a sign, digits; whatever follows is ignored, and
/// without digits it is 0.
pub fn atoi(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let value = digits
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .fold(0i64, |value, b| value.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> (Vec<Found>, Vec<OsString>) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut words = Words::new(&words);
        let mut all = Vec::new();
        while let Some(one) =
            words.next(&|name| ["cpus", "json"].contains(&name).then_some(name == "cpus"))
        {
            all.push(one);
        }
        (all, words.operands())
    }

    fn valued(letter: u8, value: &str) -> Found {
        Found::Valued(letter, value.into())
    }

    #[test]
    fn letters_are_bundled_and_values_attached_or_separate() {
        let expected = vec![
            Found::Flag(b'k'),
            Found::Flag(b'q'),
            valued(b'n', "100"),
            valued(b'c', "5"),
            valued(b'H', "-k"),
        ];
        assert_eq!(found(&["-kqn100", "-c", "5", "-H", "-k", "u"]), (expected, vec!["u".into()]));
    }

    #[test]
    fn the_first_operand_ends_the_options_and_so_do_two_dashes() {
        assert_eq!(found(&["u", "-n", "5"]).1.len(), 3);
        assert_eq!(found(&["-k", "--", "-n"]), (vec![Found::Flag(b'k')], vec!["-n".into()]));
        assert_eq!(found(&["-", "-k"]).1.len(), 2);
        assert_eq!(found(&["", "-k"]).1.len(), 2);
    }

    #[test]
    fn what_ab_does_not_know_and_what_lacks_its_value_is_told_apart() {
        assert_eq!(found(&["-K"]).0, [Found::Unknown(b'K')]);
        assert_eq!(found(&["-kn"]).0, [Found::Flag(b'k'), Found::MissingValue(b'n')]);
    }

    #[test]
    fn native_options_carry_their_values() {
        assert_eq!(found(&["--nosuch", "u"]).0, [Found::UnknownNative("--nosuch".into())]);
        let (all, operands) = found(&["--json", "--cpus", "0,1", "--cpus=2", "u"]);
        let words = |words: &[&str]| Found::Native(words.iter().map(OsString::from).collect());
        assert_eq!(all, [words(&["--json"]), words(&["--cpus", "0,1"]), words(&["--cpus=2"])]);
        assert_eq!(operands, ["u"]);
    }

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        let table = [
            ("100", 100),
            ("3x", 3),
            ("x", 0),
            ("", 0),
            (" 7", 7),
            ("-1", -1),
            ("+2", 2),
            ("99999999999999999999", i64::MAX),
            ("- 1", 0),
        ];
        for (text, expected) in table {
            assert_eq!(atoi(text.as_bytes()), expected, "{text:?}");
        }
    }
}
