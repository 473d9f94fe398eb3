//! Header fields that the requests were asked to have.

use ablaze_model::Run;
use ablaze_model::spec::Given;

/// The value of the last header field of this name, trimmed and in lower case; empty where the field was to be left out.
/// `None` where it was not given, is a secret, or where nothing is known of what was asked.
pub(crate) fn given(run: &Run, name: &str) -> Option<String> {
    match run.asked.as_ref()?.requests.given(name)? {
        Given::Value(value) => Some(value.to_ascii_lowercase()),
        Given::Secret => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn fields_are_those_that_were_asked_for_and_no_words_of_a_command_line() {
        let mut run = sample::run();
        run.command_line = ["ablaze", "-H", "Connection: Close"].map(str::to_owned).into();
        assert_eq!(given(&run, "connection"), None);
        sample::asked(&mut run, &["X: 1", "CONNECTION:  Close "]);
        assert_eq!(given(&run, "connection").unwrap(), "close");
        sample::asked(&mut run, &["Connection:"]);
        assert_eq!(given(&run, "connection").unwrap(), "");
    }
}
