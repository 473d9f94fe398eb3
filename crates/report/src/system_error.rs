//! What the operating system says, in the words of a sentence.

/// The reason of an I/O error in small letters, without the number in brackets.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_number_is_for_nobody() {
        // ENOENT
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(super::reason(&error), "no such file or directory");
        assert_eq!(super::reason(&std::io::Error::other("")), "");
    }
}
