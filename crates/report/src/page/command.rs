//! A command line as it would be typed.

/// The words with quotes where a shell needs them (POSIX.1, 2.2).
pub fn shell_text(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_text;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        let words = ["ablaze", "-H", "A: b", "http://h/?a=1&b", "it's", ""].map(String::from);
        assert_eq!(shell_text(&words), r"ablaze -H 'A: b' 'http://h/?a=1&b' 'it'\''s' ''");
    }
}
