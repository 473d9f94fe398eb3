//! Results that older versions kept: loads and models as words, which are read here once.

use ablaze_lab::experiment::FormerWords;
use ablaze_model::LoadSpec;
use ablaze_model::spec::{ModelSpec, Secrets, TargetSpec};

use super::targets;
use crate::{native, servers};

/// Reads them. Secrets in them are left behind: whoever goes on with an experiment gives them again.
#[derive(Debug, Default)]
pub struct Former {
    secrets: Secrets,
}

impl FormerWords for Former {
    fn url(&mut self, text: &str) -> Result<TargetSpec, String> {
        targets::url(text, &mut self.secrets).map_err(|refusal| refusal.line)
    }

    fn model(&mut self, words: &[String]) -> Result<ModelSpec, String> {
        // A file that it names may be gone; its results can still be shown.
        Ok(servers::of_words(words).unwrap_or_default())
    }

    fn load(&mut self, words: &[String]) -> Result<LoadSpec, String> {
        let former = native::of_words(words, &mut self.secrets);
        // A file that it names may be gone; its results can still be shown.
        let words = native::shown(words);
        Ok(former.unwrap_or_else(|_| LoadSpec { words, ..LoadSpec::default() }))
    }
}
