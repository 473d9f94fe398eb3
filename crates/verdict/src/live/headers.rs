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

/// Whether a step of the journeys has a header field of this name; `None` where they are not known, as of a saved run.
pub(crate) fn has_step_with(run: &Run, name: &str) -> Option<bool> {
    let route = run.plan.journey.as_ref()?.route.as_ref()?;
    let is_it = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
    let mut fields = route.journey.steps.iter().flat_map(|step| &step.headers);
    // Of a variable nothing is known.
    Some(fields.any(|(field, _)| field.as_constant().is_none_or(is_it)))
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
