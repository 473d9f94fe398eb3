//! Samples of steps whose captures or asserts failed.

use ablaze_journey::{Failure, written_forms};
use ablaze_model::plan::journey::Route;
use ablaze_model::record::{
    Message, Sample, basic_credentials_in, credentials_in, longest_first, masked,
};

use super::JourneyWalk;
use super::user::User;
use crate::walk::Answered;

/// What messages of a user must not show: the secrets that were given, and those that it captured.
fn secrets_of(route: &Route, user: &User) -> Vec<String> {
    let redacted = route.journey.steps.iter().flat_map(|step| step.captured());
    let redacted = redacted.filter(|(_, is_secret)| *is_secret);
    let of_user = redacted.filter_map(|(slot, _)| user.variables.get(slot)?.text());
    let of_user = of_user.flat_map(|text| written_forms(&text));
    longest_first(route.secrets.iter().cloned().chain(of_user).collect())
}

impl JourneyWalk {
    /// Words about a user's response, without secrets.
    pub(super) fn without_secrets_of(&self, index: usize, words: &str) -> String {
        masked(words, &secrets_of(&self.route, &self.users[index]))
    }

    /// What the user's request, or the head of its response, says in `ablaze run`. Basic credentials may be made of a secret.
    pub(super) fn shown(&self, index: usize, bytes: &[u8]) -> String {
        let user = &self.users[index];
        let mut secrets = secrets_of(&self.route, user);
        if !secrets.is_empty() {
            secrets.extend(basic_credentials_in(&user.request));
        }
        masked(&String::from_utf8_lossy(bytes), &longest_first(secrets))
    }

    /// The response of a user's step failed.
    #[cold]
    pub(super) fn sample(&mut self, index: usize, failure: &Failure, response: Answered) {
        let (route, user) = (&self.route, &self.users[index]);
        self.sampling.failed(response.at_ns, |drawn| {
            let mut secrets = secrets_of(route, user);
            // The server may repeat what the request's head has of credentials.
            secrets.extend(credentials_in(&user.request));
            let secrets = longest_first(secrets);
            Sample {
                key: drawn.key,
                at_ns: drawn.at_ns,
                number: user.number,
                step: Some(route.journey.steps[user.step].name.clone()),
                status: user.status,
                total_ns: response.total_ns,
                failed: vec![masked(&failure.to_string(), &secrets)],
                request: Message::of_request(&user.request, user.request.len() as u64, &secrets),
                response: Message::of(&user.head, &user.body.bytes, response.body_bytes, &secrets),
            }
        });
    }
}
