//! What an experiment loads, under a name, with which client, and what it is to speak.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::LoadSpec;
use crate::spec::target::names_certificate;
use crate::spec::{HttpVersion, TargetSpec};

/// One target of an experiment, under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// What tables and charts call it.
    pub name: String,
    /// What it is.
    pub source: TargetSpec,
    /// What loads it.
    #[serde(default, skip_serializing_if = "Tool::is_ablaze")]
    pub client: Tool,
    /// Variables that its environment has, if it is started here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// A client. A row of an experiment may have another one than ablaze, so that clients can be held against each
/// other as servers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// This program.
    #[default]
    Ablaze,
    /// ApacheBench.
    Ab,
}

impl Tool {
    /// Its name: that of its program, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ablaze => "ablaze",
            Self::Ab => "ab",
        }
    }

    fn is_ablaze(&self) -> bool {
        *self == Self::Ablaze
    }
}

impl Target {
    /// A target that ablaze loads.
    pub fn new(name: impl Into<String>, source: TargetSpec) -> Self {
        Self { name: name.into(), source, client: Tool::Ablaze, environment: BTreeMap::new() }
    }

    /// Whether an experiment starts and stops it.
    pub fn is_started_here(&self) -> bool {
        self.source.is_started_here()
    }

    /// The files of the runs that it is, if it is nothing to load but was saved before.
    pub fn saved_runs(&self) -> Option<&[PathBuf]> {
        match &self.source {
            TargetSpec::Saved(files) => Some(files),
            _ => None,
        }
    }

    /// Whether it speaks TLS, as far as its words tell. A control does what the others do.
    pub fn is_secure(&self, speaks: Speaks) -> bool {
        match &self.source {
            TargetSpec::Url { url, .. } => url.https,
            TargetSpec::Model(model) => speaks.https || speaks.http3 || model.speaks_tls(),
            TargetSpec::Command(line) => speaks.https || names_certificate(line),
            TargetSpec::Nginx { .. } => speaks.https,
            TargetSpec::Saved(_) => false,
        }
    }

    /// Threads or processes it works with on a machine with this many CPUs, where that is known.
    pub fn threads(&self, cpus: u32) -> u32 {
        self.source.threads(cpus)
    }
}

/// What targets that are started here are to speak beside plain HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Speaks {
    /// TLS, all of them.
    pub https: bool,
    /// HTTP/2.
    pub http2: bool,
    /// HTTP/3, with TLS and beside the others, which only built-in servers have.
    #[serde(default)]
    pub http3: bool,
}

impl Speaks {
    /// TLS as told, HTTP/2 and HTTP/3 if one of these loads asks for it.
    pub fn of<'a>(https: bool, loads: impl IntoIterator<Item = &'a LoadSpec>) -> Self {
        let mut speaks = Self { https, ..Self::default() };
        for load in loads {
            speaks.http2 |= load.http == Some(HttpVersion::Http2);
            speaks.http3 |= load.http == Some(HttpVersion::Http3);
        }
        speaks
    }
}

/// What a control is to speak beside these: TLS if all of them do.
pub fn of_control(others: &[Target], speaks: Speaks) -> Speaks {
    let mut others = others
        .iter()
        .filter(|other| !matches!(other.source, TargetSpec::Nginx { .. } | TargetSpec::Saved(_)))
        .peekable();
    let https =
        speaks.https || (others.peek().is_some() && others.all(|other| other.is_secure(speaks)));
    Speaks { https, ..speaks }
}

/// Gives those that have the same name different ones: `x`, `x (2)`.
pub fn told_apart(targets: &mut [Target]) {
    for at in 1..targets.len() {
        let (before, rest) = targets.split_at_mut(at);
        let target = &mut rest[0];
        let plain = target.name.clone();
        let mut number = 2;
        while before.iter().any(|other| other.name == target.name) {
            target.name = format!("{plain} ({number})");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ModelSpec, UrlSpec};

    #[test]
    fn two_of_the_same_name_are_told_apart() {
        let nginx = TargetSpec::Nginx { workers: 1 };
        let mut targets = vec![Target::new("epoll-et", nginx); 3];
        told_apart(&mut targets);
        let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["epoll-et", "epoll-et (2)", "epoll-et (3)"]);
    }

    fn serve_tls(tls: bool) -> Target {
        let mut model = ModelSpec::default();
        model.tls.on = tls;
        target(TargetSpec::Model(model))
    }

    fn target(source: TargetSpec) -> Target {
        Target::new("x", source)
    }

    fn running(url: &str) -> Target {
        let (url, _) = UrlSpec::parse(url).unwrap();
        target(TargetSpec::Url { url, user: None })
    }

    const HTTPS: Speaks = Speaks { https: true, http2: false, http3: false };
    const PLAIN: Speaks = Speaks { https: false, http2: false, http3: false };

    #[test]
    fn a_target_speaks_tls_by_its_own_words_or_by_those_for_all() {
        assert!(!serve_tls(false).is_secure(PLAIN));
        assert!(serve_tls(false).is_secure(HTTPS));
        assert!(serve_tls(true).is_secure(PLAIN));
        assert!(running("https://h/").is_secure(PLAIN));
        assert!(!running("http://h/").is_secure(HTTPS), "it runs already");
        let started = |line: &str| target(TargetSpec::Command(line.to_owned()));
        assert!(started("./server {port} {cert} {key}").is_secure(PLAIN));
        assert!(!started("./server {port}").is_secure(PLAIN));
    }

    #[test]
    fn http2_is_spoken_where_a_load_asks_for_it() {
        let of = |http| Speaks::of(false, [&LoadSpec { http, ..LoadSpec::default() }]).http2;
        assert!(of(Some(HttpVersion::Http2)));
        assert!(!of(Some(HttpVersion::Http11)) && !of(None));
    }

    #[test]
    fn http3_is_spoken_where_a_load_asks_for_it_and_brings_tls() {
        let load = LoadSpec { http: Some(HttpVersion::Http3), ..LoadSpec::default() };
        let speaks = Speaks::of(false, [&LoadSpec::default(), &load]);
        assert!(speaks.http3 && !speaks.http2);
        let model = ModelSpec::default();
        assert!(target(TargetSpec::Model(model.clone())).is_secure(speaks));
        assert_eq!(model.speaking(speaks).connections.http, Some(HttpVersion::Http3));
        assert!(model.speaking(speaks).speaks_tls());
    }

    #[test]
    fn a_control_speaks_tls_where_all_others_do() {
        let of = |mut targets: Vec<Target>| {
            targets.push(target(TargetSpec::Nginx { workers: 1 }));
            of_control(&targets, PLAIN).https
        };
        assert!(of(vec![serve_tls(true), running("https://h/")]));
        assert!(!of(vec![serve_tls(true), serve_tls(false)]));
        assert!(!of(Vec::new()));
    }
}
