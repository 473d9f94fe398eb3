//! A line of a shell, split into words.

use crate::words::for_shell;

/// Words as a shell splits them, up to what ends the command: what they stand for, and how they are typed; and the next
/// command, where a `;` is between them.
pub(super) fn shell_words(line: &str) -> (Vec<String>, Vec<String>, &str) {
    let (mut words, mut typed) = (Vec::new(), Vec::new());
    let mut word = String::new();
    let mut raw = String::new();
    let mut quote = None;
    let mut in_word = false;
    let mut end = |word: &mut String, raw: &mut String| {
        typed.push(as_typed(word, raw));
        words.push(std::mem::take(word));
        raw.clear();
    };
    let mut behind = "";
    for (at, character) in line.char_indices() {
        let splits = character.is_whitespace() || matches!(character, '`' | '|' | ';');
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                in_word = true;
            }
            (None, '|') => break,
            (None, ';') => {
                behind = &line[at + 1..];
                break;
            }
            (None, _) if splits => {
                if in_word {
                    end(&mut word, &mut raw);
                }
                in_word = false;
                continue;
            }
            (None, _) => {
                word.push(character);
                in_word = true;
            }
        }
        raw.push(character);
    }
    if in_word {
        end(&mut word, &mut raw);
    }
    (words, typed, behind)
}

/// A word as it was typed, quoted where it was not: what took the quotes away, or the signs before each of its signs, leaves
/// what a shell takes for the end of the command.
fn as_typed(word: &str, raw: &str) -> String {
    let is_quoted = raw.contains(['\'', '"']);
    match !is_quoted && word.contains(['&', '<', '>', '(', ')']) {
        true => for_shell(word),
        false => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;

    #[test]
    fn a_command_can_be_pasted() {
        for (line, text) in [
            ("$ ab -k -n 5 'http://h/?a=1&b=2'", "ab -k -n 5 'http://h/?a=1&b=2'"),
            (
                "oha -n 5 -H \"X: y z\" 'http://h/a?x=1&y=$z' | tee log",
                "oha -n 5 -H \"X: y z\" 'http://h/a?x=1&y=$z'",
            ),
            // A log has no quotes.
            ("+ ab -n 5 -c 1 http://h/?x=1&y=2", "ab -n 5 -c 1 'http://h/?x=1&y=2'"),
            ("wrk -c 10 -d 5 http://$HOST/a?b=1", "wrk -c 10 -d 5 http://$HOST/a?b=1"),
        ] {
            assert_eq!(find(line, 1).unwrap().text, text, "{line}");
        }
        assert_eq!(find("hey -n 5 'http://h/?a=1&b=2'", 1).unwrap().path, "/?a=1&b=2");
    }
}
