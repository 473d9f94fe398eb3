//! What is asked of the users who walk journeys, beside the first journey itself.

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::requests::JourneySpec;
use crate::plan::users::ThinkTime;

/// Who walks which journeys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsersSpec {
    /// How many there are at the beginning, where they become more over the measured time: the connections are how many
    /// there are at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_from: Option<u32>,
    /// Further journeys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<JourneySpec>,
    /// The weight of each journey, the first included; empty is 1 for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u64>,
    /// What each user walks once, before the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<JourneySpec>,
    /// Whether cookies and captures stay from one iteration to the next.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_session: bool,
    /// How many journeys a user walks at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// How long users think between two steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
}

impl UsersSpec {
    /// Whether nothing is asked.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The further journeys, and the setup.
    pub fn journeys(&self) -> impl Iterator<Item = &JourneySpec> {
        self.more.iter().chain(&self.setup)
    }

    /// The same, to put the bytes of their files beside them.
    pub fn journeys_mut(&mut self) -> impl Iterator<Item = &mut JourneySpec> {
        self.more.iter_mut().chain(&mut self.setup)
    }
}

impl JourneySpec {
    /// The journey of this file, with nothing else said.
    pub fn of(file: Blob) -> Self {
        Self {
            file,
            files: Vec::new(),
            variables: Vec::new(),
            secrets: Vec::new(),
            continue_on_error: false,
            location: false,
            location_trusted: false,
            max_redirects: None,
        }
    }

    /// Its file, and those that its requests send.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        std::iter::once(&self.file).chain(self.files.iter().map(|(_, file)| file))
    }

    /// The same, to put their bytes beside them.
    pub fn blobs_mut(&mut self) -> impl Iterator<Item = &mut Blob> {
        let sent = self.files.iter_mut().map(|(_, file)| file);
        std::iter::once(&mut self.file).chain(sent)
    }
}
