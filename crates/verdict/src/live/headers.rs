//! Header fields that the command line gives: what a request asks for is kept nowhere else in a saved run.

use ablaze_model::Run;

/// The value of the last header field of this lower-case name, trimmed and in lower case; empty where the command removes the
/// field.
pub(crate) fn given(run: &Run, name: &str) -> Option<String> {
    let value = |word: &String| {
        let word = word.to_ascii_lowercase();
        let field = ["--header=", "-h"].into_iter().find_map(|option| word.strip_prefix(option));
        let (its, value) = field.unwrap_or(&word).split_once(':')?;
        (its.trim() == name).then(|| value.trim().to_owned())
    };
    run.command_line.iter().rev().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn fields_are_found_however_they_are_given() {
        let value = |words: &[&str]| {
            let mut run = sample::run();
            run.command_line = words.iter().map(|word| (*word).to_owned()).collect();
            given(&run, "connection")
        };
        assert_eq!(value(&["ablaze", "-H", "Connection: Close", "http://h/"]).unwrap(), "close");
        assert_eq!(value(&["ablaze", "-HConnection:close"]).unwrap(), "close");
        assert_eq!(value(&["ablaze", "--header=Connection:"]).unwrap(), "");
        assert_eq!(value(&["ablaze", "http://connection:80/"]), None);
    }
}
