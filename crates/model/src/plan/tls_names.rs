//! The cipher suites and groups that are spoken here, by the numbers and names of IANA's registry
//! and by the names that OpenSSL has for them.

use super::tls::TlsVersion;

/// A cipher suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// Its number in IANA's registry.
    pub number: u16,
    /// Its name there.
    pub name: &'static str,
    /// Its name in OpenSSL.
    pub openssl: &'static str,
    /// The version it belongs to.
    pub version: TlsVersion,
    /// Size of the cipher's key, bits.
    pub bits: u32,
    /// How the server signs, for TLS 1.2: `ECDSA` or `RSA`.
    pub signature: Option<&'static str>,
    /// The cipher, as OpenSSL groups them: `AESGCM` or `CHACHA20`.
    pub cipher: &'static str,
}

/// A group for the exchange of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Its number in IANA's registry.
    pub number: u16,
    /// Its name there.
    pub name: &'static str,
    /// Its other names, as people type them.
    pub aliases: &'static [&'static str],
    /// As ab writes it behind `Server Temp Key:`.
    pub ab: &'static str,
}

const fn suite_1_3(number: u16, name: &'static str, bits: u32, cipher: &'static str) -> Suite {
    Suite { number, name, openssl: name, version: TlsVersion::V1_3, bits, signature: None, cipher }
}

const fn suite_1_2(
    number: u16,
    name: &'static str,
    openssl: &'static str,
    bits: u32,
    signature: &'static str,
    cipher: &'static str,
) -> Suite {
    let signature = Some(signature);
    Suite { number, name, openssl, version: TlsVersion::V1_2, bits, signature, cipher }
}

/// All suites, in the order in which they are offered. AES with 128 bits is first, as browsers have
/// it: its hash is SHA-256, for which processors have instructions.
pub const SUITES: [Suite; 9] = [
    suite_1_3(0x1301, "TLS_AES_128_GCM_SHA256", 128, "AESGCM"),
    suite_1_3(0x1302, "TLS_AES_256_GCM_SHA384", 256, "AESGCM"),
    suite_1_3(0x1303, "TLS_CHACHA20_POLY1305_SHA256", 256, "CHACHA20"),
    suite_1_2(
        0xc02b,
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        128,
        "ECDSA",
        "AESGCM",
    ),
    suite_1_2(
        0xc02c,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        256,
        "ECDSA",
        "AESGCM",
    ),
    suite_1_2(
        0xcca9,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        256,
        "ECDSA",
        "CHACHA20",
    ),
    suite_1_2(
        0xc02f,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-RSA-AES128-GCM-SHA256",
        128,
        "RSA",
        "AESGCM",
    ),
    suite_1_2(
        0xc030,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384",
        256,
        "RSA",
        "AESGCM",
    ),
    suite_1_2(
        0xcca8,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305",
        256,
        "RSA",
        "CHACHA20",
    ),
];

/// All groups. The first [`USUAL_GROUPS`] of them are offered where none are asked for: a server
/// that prefers one whose share was not sent along asks for it, which costs a round trip.
pub const GROUPS: [Group; 7] = [
    Group { number: 29, name: "x25519", aliases: &["X25519"], ab: "X25519 253 bits" },
    Group {
        number: 23,
        name: "secp256r1",
        aliases: &["P-256", "prime256v1"],
        ab: "ECDH prime256v1 256 bits",
    },
    Group { number: 24, name: "secp384r1", aliases: &["P-384"], ab: "ECDH secp384r1 384 bits" },
    Group { number: 0x11ec, name: "X25519MLKEM768", aliases: &[], ab: "X25519MLKEM768" },
    Group { number: 0x11eb, name: "SecP256r1MLKEM768", aliases: &[], ab: "SecP256r1MLKEM768" },
    Group { number: 0x0201, name: "MLKEM768", aliases: &[], ab: "MLKEM768" },
    Group { number: 0x0202, name: "MLKEM1024", aliases: &[], ab: "MLKEM1024" },
];

/// How many of [`GROUPS`] are offered where none are asked for.
pub const USUAL_GROUPS: usize = 3;

/// The suite of this number.
pub fn suite(number: u16) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.number == number)
}

/// The group of this number.
pub fn group(number: u16) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.number == number)
}

/// The suite of this name, IANA's or OpenSSL's.
pub fn suite_named(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| {
        suite.name.eq_ignore_ascii_case(name) || suite.openssl.eq_ignore_ascii_case(name)
    })
}

/// The group of this name.
pub fn group_named(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| {
        let aliases = group.aliases.iter();
        aliases.chain([&group.name]).any(|other| other.eq_ignore_ascii_case(name))
    })
}

/// The name of a suite; its number where it has none here.
pub fn suite_name(number: u16) -> String {
    suite(number).map_or_else(|| format!("0x{number:04x}"), |suite| suite.name.to_owned())
}

/// The name of a group; its number where it has none here.
pub fn group_name(number: u16) -> String {
    group(number).map_or_else(|| format!("0x{number:04x}"), |group| group.name.to_owned())
}
