//! TLS in the file: what was asked, what was agreed on, and what it took.

use crate::plan::tls::{self as plan, TlsVersion, Trust};
use crate::plan::tls_names::{group_name, group_named, suite_name, suite_named};
use crate::record::{Agreed, TlsAlert, TlsFacts};
use crate::run::Run;
use serde::{Deserialize, Serialize};

use super::LoadError;
use super::read::{damaged, kind};

#[derive(Serialize, Deserialize)]
pub(super) struct Tls {
    server_name: String,
    server_name_sent: bool,
    verified_by: VerifiedBy,
    client_certificate: bool,
    oldest: TlsVersion,
    newest: TlsVersion,
    /// Empty where the usual ones were offered.
    suites_asked: Vec<String>,
    groups_asked: Vec<String>,
    protocols_asked: Vec<String>,
    resume: bool,
    connected: u64,
    handshakes_full: u64,
    handshakes_retried: u64,
    handshakes_resumed: u64,
    agreed: Vec<AgreedOn>,
    /// The server's certificate in hexadecimal digits, DER; empty where none was shown.
    certificate: String,
    first_failure: Option<Failure>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum VerifiedBy {
    System,
    Given,
    Nobody,
}

#[derive(Serialize, Deserialize)]
struct AgreedOn {
    version: TlsVersion,
    suite: String,
    group: Option<String>,
    protocol: Option<String>,
    times: u64,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    kind: String,
    detail: String,
    /// Where it was an alert of the server; not in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alert: Option<Alert>,
}

#[derive(Serialize, Deserialize)]
struct Alert {
    number: u8,
    asked_certificate: bool,
}

pub(super) fn save(run: &Run) -> Option<Tls> {
    let (asked, facts) = (run.plan.tls.as_ref()?, run.record.tls.as_ref()?);
    Some(Tls {
        server_name: asked.server_name.clone(),
        server_name_sent: asked.send_server_name,
        verified_by: match asked.trust {
            Trust::System => VerifiedBy::System,
            Trust::Issuers(_) => VerifiedBy::Given,
            Trust::Anyone => VerifiedBy::Nobody,
        },
        client_certificate: asked.identity.is_some(),
        oldest: asked.oldest,
        newest: asked.newest,
        suites_asked: asked.suites.iter().map(|number| suite_name(*number)).collect(),
        groups_asked: asked.groups.iter().map(|number| group_name(*number)).collect(),
        protocols_asked: asked.protocols.clone(),
        resume: asked.resume,
        connected: facts.connected,
        handshakes_full: facts.handshakes_full,
        handshakes_retried: facts.handshakes_retried,
        handshakes_resumed: facts.handshakes_resumed,
        agreed: facts.agreed.iter().map(agreed_on).collect(),
        certificate: facts.certificate.iter().map(|byte| format!("{byte:02x}")).collect(),
        first_failure: facts.first_failure.as_ref().map(|(kind, detail)| Failure {
            kind: kind.key().to_owned(),
            detail: detail.clone(),
            alert: facts.first_alert.map(|alert| Alert {
                number: alert.number,
                asked_certificate: alert.asked_certificate,
            }),
        }),
    })
}

fn agreed_on((agreed, times): &(Agreed, u64)) -> AgreedOn {
    AgreedOn {
        version: agreed.version,
        suite: suite_name(agreed.suite),
        group: agreed.group.map(group_name),
        protocol: agreed.protocol.clone(),
        times: *times,
    }
}

impl Tls {
    /// What was asked; certificates and keys are not kept.
    pub(super) fn plan(&self) -> Result<plan::Tls, LoadError> {
        Ok(plan::Tls {
            server_name: self.server_name.clone(),
            send_server_name: self.server_name_sent,
            trust: match self.verified_by {
                VerifiedBy::System => Trust::System,
                VerifiedBy::Given => Trust::Issuers(Vec::new()),
                VerifiedBy::Nobody => Trust::Anyone,
            },
            identity: self
                .client_certificate
                .then(|| plan::Identity { chain: Vec::new(), key: plan::PrivateKey::default() }),
            oldest: self.oldest,
            newest: self.newest,
            suites: self.suites_asked.iter().map(|name| suite(name)).collect::<Result<_, _>>()?,
            groups: self.groups_asked.iter().map(|name| group(name)).collect::<Result<_, _>>()?,
            protocols: self.protocols_asked.clone(),
            resume: self.resume,
            list_messages: false,
        })
    }

    /// What was recorded.
    pub(super) fn facts(&self) -> Result<Box<TlsFacts>, LoadError> {
        let agreed = |agreed: &AgreedOn| {
            let group = agreed.group.as_deref().map(group).transpose()?;
            let (version, protocol) = (agreed.version, agreed.protocol.clone());
            let suite = suite(&agreed.suite)?;
            Ok((Agreed { version, suite, group, protocol }, agreed.times))
        };
        let first = self.first_failure.as_ref();
        Ok(Box::new(TlsFacts {
            connected: self.connected,
            handshakes_full: self.handshakes_full,
            handshakes_retried: self.handshakes_retried,
            handshakes_resumed: self.handshakes_resumed,
            agreed: self.agreed.iter().map(agreed).collect::<Result<_, LoadError>>()?,
            certificate: bytes(&self.certificate)?,
            first_failure: first.map(|first| (kind(&first.kind), first.detail.clone())),
            first_alert: first.and_then(|first| first.alert.as_ref()).map(|alert| TlsAlert {
                number: alert.number,
                asked_certificate: alert.asked_certificate,
            }),
            spoken: Vec::new(),
        }))
    }
}

fn suite(name: &str) -> Result<u16, LoadError> {
    numbered(name, suite_named(name).map(|suite| suite.number), "suite")
}

fn group(name: &str) -> Result<u16, LoadError> {
    numbered(name, group_named(name).map(|group| group.number), "group")
}

/// A number by its name, or as [`suite_name`] writes one that has none here.
fn numbered(name: &str, known: Option<u16>, what: &str) -> Result<u16, LoadError> {
    let digits = || u16::from_str_radix(name.strip_prefix("0x")?, 16).ok();
    known.or_else(digits).ok_or_else(|| damaged("tls", &format!("unknown {what} `{name}`")))
}

fn bytes(digits: &str) -> Result<Vec<u8>, LoadError> {
    let fault = || damaged("tls.certificate", "not pairs of hexadecimal digits");
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return Err(fault());
    }
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| fault()))
        .collect()
}
