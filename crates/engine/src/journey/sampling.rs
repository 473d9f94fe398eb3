//! Samples of steps whose captures or asserts failed.

use ablaze_journey::Failure;
use ablaze_model::record::{Message, Sample, masked};

use super::JourneyWalk;
use crate::walk::Answered;

impl JourneyWalk {
    /// What messages of a user must not show: the secrets that were given, and those that it captured.
    pub(super) fn secrets_of(&self, index: usize) -> Vec<String> {
        let (route, variables) = (&self.route, &self.users[index].variables);
        let redacted = route.journey.steps.iter().flat_map(|step| step.captured());
        let redacted = redacted.filter(|(_, is_secret)| *is_secret);
        let of_user = redacted.filter_map(|(slot, _)| variables.get(slot)?.text());
        route.secrets.iter().cloned().chain(of_user).collect()
    }

    /// The response of a user's step failed.
    #[cold]
    pub(super) fn sample(&mut self, index: usize, failure: &Failure, response: Answered) {
        let secrets = self.secrets_of(index);
        let user = &self.users[index];
        let step = &self.route.journey.steps[user.step];
        self.sampling.failed(response.at_ns, |drawn| Sample {
            key: drawn.key,
            at_ns: drawn.at_ns,
            number: user.number,
            step: Some(step.name.clone()),
            status: user.status,
            total_ns: response.total_ns,
            failed: vec![masked(&failure.to_string(), &secrets)],
            request: Message::of_request(&user.request, user.request.len() as u64, &secrets),
            response: Message::of(&user.head, &user.body.bytes, response.body_bytes, &secrets),
        });
    }
}
