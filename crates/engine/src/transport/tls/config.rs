//! From what a Plan says about TLS to rustls's configuration, made once for a run.

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore, SupportedProtocolVersion};

use super::asked::Asked;
use super::verifier::{Unverified, Verified};
use ablaze_model::certificate::Certificate;
use ablaze_model::plan::tls::{Identity, Tls, TlsVersion, Trust};
use ablaze_model::plan::tls_names::{GROUPS, SUITES, USUAL_GROUPS};
use ablaze_model::plan::{Plan, PlanError};

/// Everything that connections of a run are made with.
#[derive(Debug, Clone)]
pub struct Shared {
    /// rustls's configuration.
    pub config: Arc<ClientConfig>,
    /// Whom the certificate has to be for.
    pub server_name: ServerName<'static>,
}

impl Shared {
    /// From the Plan.
    ///
    /// # Errors
    /// When the offer is empty, a certificate or key cannot be used, the name is none, or this
    /// system has no roots to verify by.
    pub fn new(tls: &Tls) -> Result<Self, PlanError> {
        let server_name = ServerName::try_from(tls.server_name.clone()).map_err(|_| {
            invalid(format!(
                "`{}` cannot be the name in a certificate: give a host name or an address \
                 with --sni",
                tls.server_name
            ))
        })?;
        Ok(Self { config: Arc::new(client_config(tls)?), server_name })
    }

    /// The configuration of one worker: its own store of sessions, so that none is shared.
    pub fn for_worker(&self, resume: bool) -> Arc<ClientConfig> {
        if !resume {
            return Arc::clone(&self.config);
        }
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        Arc::new(config)
    }
}

/// What is offered to the origins of a Plan.
#[derive(Debug)]
pub struct Offers {
    /// One for each origin that speaks TLS.
    pub(super) offers: Vec<Shared>,
    /// By the driver's numbers of endpoints: which of them is offered there; `None` is plain.
    pub(super) of_endpoints: Box<[Option<u16>]>,
    pub(super) resumes: bool,
    pub(super) lists_messages: bool,
}

impl Offers {
    /// From the Plan; `None` if no connection speaks TLS.
    ///
    /// # Errors
    /// As [`Shared::new`].
    pub fn of(plan: &Plan) -> Result<Option<Self>, PlanError> {
        if plan.http3.is_some() {
            // QUIC has TLS inside.
            return Ok(None);
        }
        let addresses =
            if plan.target.unix_socket.is_some() { 1 } else { plan.target.addresses.len() };
        let others = plan.target.others.iter().map(|other| (&other.tls, other.addresses.len()));
        let mut offers = Vec::new();
        let mut of_endpoints = Vec::new();
        for (asked, addresses) in std::iter::once((&plan.tls, addresses)).chain(others) {
            let offer = asked.as_ref().map(|asked| {
                offers.push(Shared::new(asked)?);
                Ok::<_, PlanError>((offers.len() - 1) as u16)
            });
            of_endpoints.extend(std::iter::repeat_n(offer.transpose()?, addresses));
        }
        if offers.is_empty() {
            return Ok(None);
        }
        let asked =
            || plan.tls.iter().chain(plan.target.others.iter().filter_map(|o| o.tls.as_ref()));
        Ok(Some(Self {
            offers,
            of_endpoints: of_endpoints.into(),
            resumes: asked().any(|tls| tls.resume),
            lists_messages: asked().any(|tls| tls.list_messages),
        }))
    }
}

/// Names of servers whose sessions are kept: a configuration has one.
const SESSIONS: usize = 8;

fn invalid(text: impl Into<String>) -> PlanError {
    PlanError::Invalid(text.into())
}

fn client_config(tls: &Tls) -> Result<ClientConfig, PlanError> {
    let provider = Arc::new(provider(tls)?);
    let keys = provider.key_provider;
    let versions = versions(tls)?;
    let verifier: Arc<dyn ServerCertVerifier> = match &tls.trust {
        Trust::Anyone => Arc::new(Unverified::new(&provider)),
        Trust::System => verified(&provider, &system_roots()?, Vec::new())?,
        Trust::Issuers(given) => {
            let given: Vec<_> = given.iter().map(|der| CertificateDer::from(der.clone())).collect();
            verified(&provider, &given, given.clone())?
        }
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .map_err(|error| {
            invalid(format!(
                "none of the requested cipher suites belongs to a requested TLS \
                             version ({error})"
            ))
        })?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &tls.identity {
        None => builder.with_client_cert_resolver(Arc::new(Asked(None))),
        Some(Identity { chain, key }) => {
            let chain = chain.iter().map(|der| CertificateDer::from(der.clone())).collect();
            let key = PrivateKeyDer::try_from(key.der.clone())
                .map_err(|_| invalid("the private key of --key is of an unsupported type"))?;
            let key = keys.load_private_key(key).map_err(|error| {
                invalid(format!("the private key of --key cannot be used: {error}"))
            })?;
            builder
                .with_client_cert_resolver(Arc::new(Asked(Some(client_certificate(chain, key)?))))
        }
    };
    config.enable_sni = tls.send_server_name;
    config.alpn_protocols = tls.protocols.iter().map(|name| name.clone().into_bytes()).collect();
    config.resumption = Resumption::disabled();
    // The records of a connection are opened and sealed in `protection`.
    config.enable_secret_extraction = true;
    Ok(config)
}

/// The certificate to show, with its key. What cannot be read of a certificate is for the server to judge: rustls reads
/// version 3 only, and a client shows version 1 as well as OpenSSL does.
fn client_certificate(
    chain: Vec<CertificateDer<'static>>,
    key: Arc<dyn SigningKey>,
) -> Result<SingleCertAndKey, PlanError> {
    let mismatch = || {
        invalid(
            "the private key does not match the certificate: --cert and --key must belong together",
        )
    };
    let own = CertifiedKey::new(chain, key);
    match own.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
        Err(Error::InconsistentKeys(_)) => return Err(mismatch()),
        Err(error) => {
            // The key's public half stands in the certificate as it is (RFC 5280, 4.1).
            let public = own.key.public_key();
            let (Some(public), Some(first)) = (public.as_deref(), own.cert.first()) else {
                return Err(invalid(format!("the client certificate cannot be used: {error}")));
            };
            if Certificate::read(first).is_none() {
                return Err(invalid("the client certificate is no X.509 certificate"));
            }
            if !first.windows(public.len()).any(|part| part == public) {
                return Err(mismatch());
            }
        }
    }
    Ok(SingleCertAndKey::from(own))
}

fn provider(tls: &Tls) -> Result<CryptoProvider, PlanError> {
    let mut provider = aws_lc_rs::default_provider();
    let suites: Vec<u16> = match &tls.suites[..] {
        [] => SUITES.iter().map(|suite| suite.number).collect(),
        asked => asked.to_vec(),
    };
    provider.cipher_suites = suites
        .iter()
        .filter_map(|number| {
            let mut all = aws_lc_rs::ALL_CIPHER_SUITES.iter();
            all.find(|suite| u16::from(suite.suite()) == *number).copied()
        })
        .collect();
    let groups: Vec<u16> = match &tls.groups[..] {
        [] => GROUPS[..USUAL_GROUPS].iter().map(|group| group.number).collect(),
        asked => asked.to_vec(),
    };
    provider.kx_groups = groups
        .iter()
        .filter_map(|number| {
            let mut all = aws_lc_rs::ALL_KX_GROUPS.iter();
            all.find(|group| u16::from(group.name()) == *number).copied()
        })
        .collect();
    if provider.cipher_suites.is_empty() || provider.kx_groups.is_empty() {
        return Err(invalid("none of the requested cipher suites or groups is supported"));
    }
    Ok(provider)
}

fn versions(tls: &Tls) -> Result<Vec<&'static SupportedProtocolVersion>, PlanError> {
    let asked = tls.oldest..=tls.newest;
    let all =
        [(TlsVersion::V1_3, &rustls::version::TLS13), (TlsVersion::V1_2, &rustls::version::TLS12)];
    let versions: Vec<_> =
        all.into_iter().filter(|(version, _)| asked.contains(version)).map(|(_, v)| v).collect();
    if versions.is_empty() {
        return Err(invalid("--tls-min is above --tls-max: no version of TLS is left"));
    }
    Ok(versions)
}

fn verified(
    provider: &Arc<CryptoProvider>,
    roots: &[CertificateDer<'static>],
    given: Vec<CertificateDer<'static>>,
) -> Result<Arc<dyn ServerCertVerifier>, PlanError> {
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(roots.iter().cloned());
    if added == 0 {
        return Err(invalid(
            "no trusted certificate can be read: give one in PEM with --cacert, or skip \
             verification with -k",
        ));
    }
    let rules = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|error| invalid(format!("certificates cannot be verified: {error}")))?;
    Ok(Arc::new(Verified::new(rules, given)))
}

fn system_roots() -> Result<Vec<CertificateDer<'static>>, PlanError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reason =
            found.errors.first().map_or("none are installed".to_owned(), |error| error.to_string());
        return Err(invalid(format!(
            "the system's trusted certificates cannot be read ({reason}): install the package \
             ca-certificates, give them with --cacert FILE, or skip verification with -k"
        )));
    }
    Ok(found.certs)
}
