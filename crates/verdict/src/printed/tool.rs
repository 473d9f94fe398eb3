//! Whose report it is.

/// Whose report it is, as far as its form tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// ab itself, or what prints as it does without saying who it is.
    Ab,
    /// `ablaze ab`.
    AblazeAb,
    /// gurl.
    Gurl,
    /// `ablaze gurl`, told from gurl by the host name, which gurl leaves empty.
    AblazeGurl,
    /// ablaze's own report.
    Ablaze,
    /// wrk.
    Wrk,
    /// wrk2: wrk on a schedule.
    Wrk2,
    /// h2load, of nghttp2.
    H2load,
    /// hey.
    Hey,
    /// oha.
    Oha,
    /// bombardier.
    Bombardier,
    /// vegeta.
    Vegeta,
    /// siege.
    Siege,
}

impl Tool {
    /// As it is called in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::AblazeAb => "ablaze ab",
            Self::Gurl => "gurl",
            Self::AblazeGurl => "ablaze gurl",
            Self::Ablaze => "ablaze",
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Oha => "oha",
            Self::Bombardier => "bombardier",
            Self::Vegeta => "vegeta",
            Self::Siege => "siege",
        }
    }

    /// Its lines have ab's labels.
    pub fn has_ab_labels(self) -> bool {
        matches!(self, Self::Ab | Self::AblazeAb | Self::Gurl | Self::AblazeGurl)
    }

    /// ablaze in the form of ab or gurl, which says on stderr what it found in the run.
    pub fn is_ablaze_in_other_form(self) -> bool {
        matches!(self, Self::AblazeAb | Self::AblazeGurl)
    }

    /// Prints what ab prints, with the same meaning.
    pub fn is_ab_like(self) -> bool {
        matches!(self, Self::Ab | Self::AblazeAb)
    }
}
