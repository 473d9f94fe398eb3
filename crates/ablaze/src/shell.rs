//! Command lines as sh and bash split them into words: quotation marks, backslashes, `$'…'`, line continuations,
//! comments, and what ends a command. Nothing is expanded.

use ablaze_model::printable::is_hostile;

/// The commands of a text, each as its words. What is not followed (a pipe, a redirection) is noted.
///
/// # Errors
/// When a quotation mark is not closed.
pub fn commands(text: &str, notes: &mut Vec<String>) -> Result<Vec<Vec<String>>, String> {
    if text.contains("^\"") || text.contains("^\n") || text.contains("^\r\n") {
        return Err("this is a command for cmd.exe: copy it as cURL (bash)".into());
    }
    let mut splitter = Splitter {
        rest: text.chars().collect(),
        at: 0,
        word: None,
        words: Vec::new(),
        all: Vec::new(),
    };
    splitter.run(notes)?;
    Ok(splitter.all)
}

/// The words as a line for a shell: what would not stay as it is stands in quotation marks.
pub fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_hostile) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // Of bash, zsh and ksh: what a terminal would obey is written as bytes.
    let mut out = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => out.extend(['\\', letter]),
            letter if is_hostile(letter) => {
                let mut bytes = [0; 4];
                let bytes = letter.encode_utf8(&mut bytes).bytes();
                out.extend(bytes.map(|byte| format!("\\{byte:03o}")));
            }
            letter => out.push(letter),
        }
    }
    out.push('\'');
    out
}

struct Splitter {
    rest: Vec<char>,
    at: usize,
    /// The word so far; an empty one was written as `''`.
    word: Option<String>,
    words: Vec<String>,
    all: Vec<Vec<String>>,
}

impl Splitter {
    fn run(&mut self, notes: &mut Vec<String>) -> Result<(), String> {
        while let Some(letter) = self.next() {
            match letter {
                '\n' | ';' => self.end_command(),
                '&' => {
                    if self.peek() == Some('&') {
                        self.at += 1;
                    }
                    self.end_command();
                }
                '|' | '<' | '>' => {
                    // The number of a descriptor belongs to the redirection: 2>/dev/null.
                    if letter != '|'
                        && self.word.as_ref().is_some_and(|word| word == "1" || word == "2")
                    {
                        self.word = None;
                    }
                    let rest = self.skip_command();
                    notes.push(format!("left out: `{letter}{rest}`"));
                    self.end_command();
                }
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                '\'' => {
                    let text = self.until('\'')?;
                    self.add(&text);
                }
                '"' => {
                    let text = self.in_double_quotes()?;
                    self.add(&text);
                }
                '$' if self.peek() == Some('\'') => {
                    self.at += 1;
                    let text = self.in_dollar_quotes()?;
                    self.add(&text);
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some('\r') if self.peek() == Some('\n') => self.at += 1,
                    Some(letter) => self.add(&letter.to_string()),
                },
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.add(&letter.to_string()),
            }
        }
        self.end_command();
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn add(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.all.push(std::mem::take(&mut self.words));
        }
    }

    /// What is left of a command that is not read any further.
    fn skip_command(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|letter| !matches!(letter, '\n' | ';')) {
            self.at += 1;
        }
        self.rest[start..self.at].iter().collect::<String>().trim_end().to_owned()
    }

    fn until(&mut self, end: char) -> Result<String, String> {
        let start = self.at;
        while let Some(letter) = self.next() {
            if letter == end {
                return Ok(self.rest[start..self.at - 1].iter().collect());
            }
        }
        Err(not_closed(end))
    }

    fn in_double_quotes(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while let Some(letter) = self.next() {
            match (letter, self.peek()) {
                ('"', _) => return Ok(text),
                ('\\', Some('\n')) => self.at += 1,
                ('\\', Some(next @ ('"' | '\\' | '$' | '`' | '!'))) => {
                    self.at += 1;
                    text.push(next);
                }
                _ => text.push(letter),
            }
        }
        Err(not_closed('"'))
    }

    /// `$'…'`, as bash has it: escapes of C, `\xHH`, `\uHHHH` and octal numbers.
    fn in_dollar_quotes(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while let Some(letter) = self.next() {
            match letter {
                '\'' => return Ok(text),
                '\\' => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('a') => text.push('\u{7}'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('v') => text.push('\u{b}'),
                    Some('e' | 'E') => text.push('\u{1b}'),
                    Some('x') => text.extend(self.number(16, 2)),
                    Some('u') => text.extend(self.unicode()),
                    Some('U') => text.extend(self.number(16, 8)),
                    Some('0'..='7') => {
                        self.at -= 1;
                        text.extend(self.number(8, 3));
                    }
                    Some(letter) => text.push(letter),
                    None => {}
                },
                letter => text.push(letter),
            }
        }
        Err(not_closed('\''))
    }

    fn number(&mut self, base: u32, digits_max: usize) -> Option<char> {
        char::from_u32(self.digits(base, digits_max))
    }

    fn digits(&mut self, base: u32, digits_max: usize) -> u32 {
        let mut number = 0;
        for _ in 0..digits_max {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(base)) else { break };
            number = number * base + digit;
            self.at += 1;
        }
        number
    }

    /// `\uHHHH`; two that are a surrogate pair, as browsers write letters beyond U+FFFF, are one letter.
    fn unicode(&mut self) -> Option<char> {
        let first = self.digits(16, 4);
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let behind = self.at;
        if self.next() == Some('\\') && self.next() == Some('u') {
            let second = self.digits(16, 4);
            if (0xdc00..0xe000).contains(&second) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
        }
        self.at = behind;
        Some(char::REPLACEMENT_CHARACTER)
    }
}

fn not_closed(mark: char) -> String {
    format!("the command has no closing {mark}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<Vec<String>> {
        commands(text, &mut Vec::new()).unwrap()
    }

    /// What bash makes of it: the oracle for quoting.
    fn as_bash_splits(line: &str) -> Option<Vec<String>> {
        let script = format!("printf '%s\\0' {line}");
        let output = std::process::Command::new("bash").args(["-c", &script]).output().ok()?;
        let text = String::from_utf8(output.stdout).unwrap();
        Some(text.split_terminator('\0').map(str::to_owned).collect())
    }

    #[test]
    fn words_are_those_of_a_shell() {
        for line in [
            r#"a 'b c' "d e" f\ g"#,
            r#"'a'"b"c '' "" 'it'\''s'"#,
            r#""a\"b\\c\$d\e" '\n'"#,
            "a \\\n  b \"c\\\nd\"",
            r"$'a\nb\t\'c\x41\u00e9\\' $'\101\e'",
            "a#b 'c#d' # comment",
            "https://h/?a=1\\&b=2 ü",
        ] {
            let Some(expected) = as_bash_splits(line) else { return };
            assert_eq!(split(line), [expected], "{line}");
        }
    }

    #[test]
    fn a_shell_reads_the_words_of_a_line_back() {
        let words =
            ["a", "", "it's", "a b", "$x `y` \\", "http://h/?a=1&b={2}", "\u{1b}[1m\n'\\é\u{202e}"];
        let words = words.map(str::to_owned).to_vec();
        let Some(read) = as_bash_splits(&line(&words)) else { return };
        assert_eq!(read, words);
        assert!(!line(&words).chars().any(is_hostile));
        assert_eq!(
            line(&["-d".into(), "10s".into(), "http://h:1/a".into()]),
            "-d 10s http://h:1/a"
        );
    }

    #[test]
    fn commands_end_as_in_a_shell_and_what_is_not_followed_is_noted() {
        let two: [&[&str]; 2] = [&["a", "b"], &["c"]];
        for text in ["a b; c", "a b\nc\n", "a b ;\nc", "a b && c", "a b &\nc", "# x\na b\n\n c # d"]
        {
            assert_eq!(split(text), two, "{text}");
        }
        let mut notes = Vec::new();
        assert_eq!(commands("a 2>/dev/null | jq .\nb", &mut notes).unwrap(), [["a"], ["b"]]);
        assert_eq!(notes, ["left out: `>/dev/null | jq .`"]);
    }

    #[test]
    fn letters_beyond_the_basic_plane_come_as_two_halves() {
        assert_eq!(split(r"$'\ud83d\ude00 \ud83d'"), [["😀 \u{fffd}"]]);
    }

    #[test]
    fn what_is_not_closed_or_of_another_shell_is_refused() {
        for (text, needle) in [
            ("a 'b", "no closing '"),
            ("a \"b", "no closing \""),
            ("curl ^\"http://h^\"", "cURL (bash)"),
        ] {
            let error = commands(text, &mut Vec::new()).unwrap_err();
            assert!(error.contains(needle), "{text}: {error}");
        }
    }
}
