//! ab's `-f -Z -E -I`: what they ask of TLS, as far as it is spoken here.

use std::path::{Path, PathBuf};

use ablaze_engine::transport::tls::{Shared, pem};
use ablaze_load::planning::tls as planned;
use ablaze_model::plan::tls::{Identity, PrivateKey, Tls, TlsVersion, Trust};
use ablaze_model::plan::tls_names::{SUITES, Suite, suite_named};
use ablaze_model::spec::{Secret, Secrets, TlsSpec, TrustSpec};
use ablaze_wire::url::{Scheme, Url};

use super::error::{AbError, system_text};
use super::native::unusable;
use crate::native;

/// What the options say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// `-f`
    pub protocol: Option<String>,
    /// `-Z`
    pub suites: Option<String>,
    /// `-E`
    pub certificate: Option<PathBuf>,
    /// `-I`
    pub no_server_name: bool,
}

/// TLS for an https URL; the options are looked at for http as well, as ab does. `host`: the value
/// of a Host header given with `-H`.
///
/// # Errors
/// When a version or suite is not spoken here, or a file cannot be used.
pub fn spec(
    options: &TlsOptions,
    native: &native::TlsOptions,
    url: &Url,
    host: Option<&str>,
    secrets: &mut Secrets,
) -> Result<TlsSpec, AbError> {
    let (oldest, newest) = versions(options.protocol.as_deref())?;
    let suites = match &options.suites {
        None => in_order_of_openssl(|_| true).iter().map(|suite| suite.number).collect(),
        Some(list) => suites(list, oldest)?,
    };
    let identity = options.certificate.as_deref().map(identity).transpose()?;
    if url.scheme == Scheme::Http {
        return Ok(TlsSpec::default());
    }
    let mut tls = native::tls(native, secrets).map_err(unusable)?;
    // ab verifies nothing; who gives certificates to verify by wants it done.
    if native.cacert.is_none() {
        tls.trust = TrustSpec::Anyone;
    }
    let name = host.map_or(&url.host[..], without_port);
    let usable = Shared::new(&Tls { trust: Trust::Anyone, ..Tls::new(name) }).is_ok();
    let name = if usable { name } else { &url.host };
    tls.server_name.get_or_insert_with(|| name.to_owned());
    tls.oldest.get_or_insert(oldest);
    tls.newest.get_or_insert(newest);
    tls.offer_protocol = false;
    planned::resolve(&tls, &url.host, None, secrets).map_err(unusable)?;
    if tls.suites.is_empty() {
        tls.suites = suites;
    }
    tls.send_server_name &= !options.no_server_name;
    let own = identity.map(|own| secrets.keep("client certificate", Secret::Identity(own)));
    tls.identity = tls.identity.or(own);
    planned::resolve(&tls, &url.host, None, secrets)
        .map_err(|error| AbError::text(error.to_string()))?;
    Ok(tls)
}

fn without_port(host: &str) -> &str {
    let host = host.trim();
    if host.starts_with('[') {
        return host.trim_start_matches('[').split(']').next().unwrap_or(host);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// `-f`: ab compares beginnings, in this order; what it does not know is ALL to it.
fn versions(protocol: Option<&str>) -> Result<(TlsVersion, TlsVersion), AbError> {
    let all = (TlsVersion::V1_2, TlsVersion::V1_3);
    let Some(protocol) = protocol else { return Ok(all) };
    let begins = |name: &str| {
        protocol.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    if begins("ALL") {
        Ok(all)
    } else if begins("TLS1.2") {
        Ok((TlsVersion::V1_2, TlsVersion::V1_2))
    } else if begins("TLS1.3") {
        Ok((TlsVersion::V1_3, TlsVersion::V1_3))
    } else if ["SSL", "TLS1.1", "TLS1"].into_iter().any(begins) {
        Err(AbError::text(format!("-f {protocol} is not supported"))
            .with_fix("versions before TLS 1.2 are deprecated: use -f TLS1.2, TLS1.3 or ALL"))
    } else {
        Ok(all)
    }
}

/// `-Z`: a list as OpenSSL reads it. With `-f TLS1.3` it names the suites of TLS 1.3; otherwise it
/// chooses among those of TLS 1.2, and those of TLS 1.3 stay.
fn suites(list: &str, oldest: TlsVersion) -> Result<Vec<u16>, AbError> {
    // A list that names classes keeps the order.
    let of = |version| in_order_of_openssl(|suite| suite.version == version);
    let all = of(oldest);
    let chosen = chosen(list, &all);
    if chosen.is_empty() {
        let names: Vec<&str> = all.iter().map(|suite| suite.openssl).collect();
        return Err(AbError::text(format!("error setting ciphersuite list [{list}]")).with_fix(
            format!("-Z matches no supported cipher suite: use some of {}", names.join(":")),
        ));
    }
    let always = if oldest == TlsVersion::V1_2 { of(TlsVersion::V1_3) } else { Vec::new() };
    Ok(always.into_iter().chain(chosen).map(|suite| suite.number).collect())
}

/// These suites, as OpenSSL prefers them, so that a server that lets the client choose takes the one
/// that it takes with ab.
fn in_order_of_openssl(which: impl Fn(&Suite) -> bool) -> Vec<&'static Suite> {
    let mut all: Vec<&Suite> = SUITES.iter().filter(|suite| which(suite)).collect();
    all.sort_by_key(|suite| {
        (suite.version == TlsVersion::V1_2, suite.bits == 128, suite.cipher != "AESGCM")
    });
    all
}

/// The suites that an OpenSSL cipher string leaves of these, in its order (ciphers(1)).
fn chosen(list: &str, all: &[&'static Suite]) -> Vec<&'static Suite> {
    let mut chosen: Vec<&Suite> = Vec::new();
    let mut banned: Vec<&Suite> = Vec::new();
    for word in list.split([':', ',', ' ', ';']).filter(|word| !word.is_empty()) {
        let (sign, words) = match word.split_at_checked(1) {
            Some((sign @ ("!" | "-" | "+"), words)) => (sign, words),
            _ => ("", word),
        };
        let meant = |suite: &&&'static Suite| words.split('+').all(|word| is_meant(word, suite));
        let meant: Vec<&Suite> = all.iter().filter(meant).copied().collect();
        match sign {
            "!" => {
                chosen.retain(|suite| !meant.contains(suite));
                banned.extend(meant);
            }
            "-" => chosen.retain(|suite| !meant.contains(suite)),
            "+" => {
                let (moved, stay) = chosen.iter().partition::<Vec<_>, _>(|s| meant.contains(s));
                chosen = stay.into_iter().chain(moved).collect();
            }
            _ => {
                for suite in meant {
                    if !chosen.contains(&suite) && !banned.contains(&suite) {
                        chosen.push(suite);
                    }
                }
            }
        }
    }
    chosen
}

/// Whether a word of a cipher string means this suite.
fn is_meant(word: &str, suite: &Suite) -> bool {
    if let Some(named) = suite_named(word) {
        return named.number == suite.number;
    }
    let is_aes = suite.cipher == "AESGCM";
    match word {
        "DEFAULT"
        | "ALL"
        | "HIGH"
        | "COMPLEMENTOFALL+DEFAULT"
        | "ECDHE"
        | "kECDHE"
        | "EECDH"
        | "kEECDH"
        | "TLSv1.2" => true,
        "ECDSA" | "aECDSA" => suite.signature == Some("ECDSA"),
        "aRSA" => suite.signature == Some("RSA"),
        "AESGCM" | "AES" => is_aes,
        "AES128" => is_aes && suite.bits == 128,
        "AES256" => is_aes && suite.bits == 256,
        "CHACHA20" => !is_aes,
        _ => false,
    }
}

/// `-E`: the certificate and its key in one file.
fn identity(path: &Path) -> Result<Identity, AbError> {
    let shown = path.display();
    let read = std::fs::read(path);
    let unreadable = read.as_ref().err().map(|error| {
        format!("cannot read `{shown}` of -E ({}): check its name", system_text(error))
    });
    let text = read.unwrap_or_default();
    let chain = pem::certificates(&text).unwrap_or_default();
    if chain.is_empty() {
        return Err(AbError::text(format!("unable to get certificate from '{shown}'")).with_fix(
            unreadable.unwrap_or_else(|| {
                "-E needs a PEM file with the certificate and its private key".to_owned()
            }),
        ));
    }
    let Ok(Some(der)) = pem::private_key(&text) else {
        return Err(AbError::text(format!("unable to get private key from '{shown}'"))
            .with_fix("-E needs a PEM file with the certificate and its private key"));
    };
    let identity = Identity { chain, key: PrivateKey { der } };
    let alone =
        Tls { trust: Trust::Anyone, identity: Some(identity.clone()), ..Tls::new("localhost") };
    Shared::new(&alone).map_err(|_| {
        AbError::text(format!("private key does not match the certificate public key in {shown}"))
    })?;
    Ok(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str, oldest: TlsVersion) -> Option<Vec<&'static str>> {
        let numbers = suites(list, oldest).ok()?;
        let named = |number: &u16| SUITES.iter().find(|suite| suite.number == *number);
        let of_1_2 =
            |suite: &&Suite| oldest == TlsVersion::V1_3 || suite.version == TlsVersion::V1_2;
        Some(numbers.iter().filter_map(named).filter(of_1_2).map(|suite| suite.openssl).collect())
    }

    /// What `openssl ciphers -s -tls1_2 'X'` leaves of the six suites that are spoken here.
    #[test]
    fn cipher_strings_are_read_as_openssl_reads_them() {
        let table: [(&str, &[&str]); 7] = [
            ("ECDHE-RSA-AES128-GCM-SHA256", &["ECDHE-RSA-AES128-GCM-SHA256"]),
            ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", &["ECDHE-RSA-AES128-GCM-SHA256"]),
            ("aRSA+CHACHA20", &["ECDHE-RSA-CHACHA20-POLY1305"]),
            (
                "HIGH:!aNULL:!aRSA:-CHACHA20",
                &["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"],
            ),
            (
                "AES256:AES128+aECDSA:+aRSA",
                &[
                    "ECDHE-ECDSA-AES256-GCM-SHA384",
                    "ECDHE-ECDSA-AES128-GCM-SHA256",
                    "ECDHE-RSA-AES256-GCM-SHA384",
                ],
            ),
            ("!AES:ALL", &["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"]),
            (
                "-AES:DEFAULT:-AES:AES128",
                &[
                    "ECDHE-ECDSA-CHACHA20-POLY1305",
                    "ECDHE-RSA-CHACHA20-POLY1305",
                    "ECDHE-ECDSA-AES128-GCM-SHA256",
                    "ECDHE-RSA-AES128-GCM-SHA256",
                ],
            ),
        ];
        for (list, expected) in table {
            assert_eq!(names(list, TlsVersion::V1_2).unwrap(), expected, "{list}");
        }
        assert_eq!(names("DEFAULT", TlsVersion::V1_2).unwrap().len(), 6);
        assert_eq!(
            names("TLS_AES_128_GCM_SHA256", TlsVersion::V1_3).unwrap(),
            ["TLS_AES_128_GCM_SHA256"]
        );
        // The suites of TLS 1.3 stay beside a choice among those of TLS 1.2, in the order that
        // `openssl ciphers -s -tls1_3` prints.
        assert_eq!(suites("AES128", TlsVersion::V1_2).unwrap()[..3], [0x1302, 0x1303, 0x1301]);
    }

    #[test]
    fn what_leaves_nothing_is_refused_and_says_what_there_is() {
        for list in ["RC4-SHA", "!ALL", "eNULL", "3DES:MD5", "HIGH:!ECDHE", ""] {
            let refused = suites(list, TlsVersion::V1_2).unwrap_err();
            let text = refused.to_string();
            assert!(text.contains(&format!("error setting ciphersuite list [{list}]")), "{text}");
            assert!(text.contains("ECDHE-RSA-AES128-GCM-SHA256"), "{text}");
            assert_eq!(refused.status, 1);
        }
    }

    #[test]
    fn versions_are_named_by_their_beginning() {
        let both = (TlsVersion::V1_2, TlsVersion::V1_3);
        for all in [None, Some("ALL"), Some("all"), Some("whatever")] {
            assert_eq!(versions(all).unwrap(), both, "{all:?}");
        }
        assert_eq!(versions(Some("tls1.2")).unwrap(), (both.0, both.0));
        assert_eq!(versions(Some("TLS1.3")).unwrap(), (both.1, both.1));
        for old in ["SSL2", "SSL3", "TLS1", "TLS1.0", "TLS1.1"] {
            let refused = versions(Some(old)).unwrap_err();
            assert!(refused.to_string().contains("TLS1.3 or ALL"), "{old}");
            assert_eq!(refused.status, 1);
        }
    }

    #[test]
    fn the_name_in_a_host_header_is_without_its_port() {
        let names = ["a", "a:1", " a.b:443 ", "[::1]:443", "[::1]"].map(without_port);
        assert_eq!(names, ["a", "a", "a.b", "::1", "::1"]);
    }
}
