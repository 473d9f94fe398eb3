//! The options of TLS, from words and files to what the server is told.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::spec::server::ServedTlsSpec;
use ablaze_report::file;
use ablaze_target::tls::{Identity, TlsOptions};
use clap::Args;

use super::names;
use super::told::Told;
use crate::CommandError;

/// How TLS is spoken. Each of these options means TLS.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArguments {
    /// Use TLS, with a certificate generated for this run
    #[arg(long)]
    pub tls: bool,
    /// Write the CA certificate that signed it, for --cacert of clients
    #[arg(long, value_name = "FILE", conflicts_with = "tls_cert")]
    pub tls_ca_out: Option<PathBuf>,
    /// Certificate with its chain (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Oldest TLS version, 1.2 or 1.3 [default: 1.2]
    #[arg(long, value_name = "VERSION", value_parser = names::tls_version)]
    pub tls_min: Option<TlsVersion>,
    /// Newest TLS version, 1.2 or 1.3 [default: 1.3]
    #[arg(long, value_name = "VERSION", value_parser = names::tls_version)]
    pub tls_max: Option<TlsVersion>,
    /// Session tickets, on or off [default: on]
    #[arg(long, value_name = "WHETHER", value_parser = names::on_or_off)]
    pub tls_tickets: Option<bool>,
    /// Require a client certificate signed by one of these CAs
    #[arg(long, value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
}

/// What the server is told; nothing if TLS was not asked for.
///
/// # Errors
/// When a file cannot be read, or does not hold what it should.
pub fn options(asked: &ServedTlsSpec, address: IpAddr) -> Result<Option<TlsOptions>, CommandError> {
    if *asked == ServedTlsSpec::default() {
        return Ok(None);
    }
    let ServedTlsSpec { certificate, key, oldest, newest, tickets, client_authorities, .. } = asked;
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => given_identity(certificate, key)?,
        (Some(_), None) | (None, Some(_)) => {
            return Err(CommandError::usage(
                "--tls-cert and --tls-key must be given together, or neither for a generated \
                 certificate",
            ));
        }
        (None, None) => Identity::self_made(&[address]).map_err(CommandError::machine)?,
    };
    let own = TlsOptions::new(identity);
    let options = TlsOptions {
        min: oldest.map_or(own.min, |version| version.told()),
        max: newest.map_or(own.max, |version| version.told()),
        tickets: tickets.unwrap_or(own.tickets),
        client_authorities: client_authorities
            .as_ref()
            .map(|path| read(path, "--tls-client-ca"))
            .transpose()?,
        ..own
    };
    // Here, where the names of the files are known.
    options.check().map_err(|why| match (certificate, key) {
        (Some(certificate), Some(key)) => CommandError::usage(format!(
            "--tls-cert {} with --tls-key {}: {why}",
            certificate.display(),
            key.display()
        )),
        _ => CommandError::usage(why),
    })?;
    Ok(Some(options))
}

fn given_identity(certificate: &Path, key: &Path) -> Result<Identity, CommandError> {
    let certificates = read(certificate, "--tls-cert")?;
    let private = read(key, "--tls-key")?;
    Identity::from_pem(&certificates, &private).map_err(|why| {
        CommandError::usage(format!(
            "--tls-cert {} with --tls-key {}: {why}",
            certificate.display(),
            key.display()
        ))
    })
}

fn read(path: &Path, option: &str) -> Result<Vec<u8>, CommandError> {
    std::fs::read(path).map_err(|error| {
        CommandError::usage(format!("cannot read {option} {}: {error}", path.display()))
    })
}

/// Refuses a file that could not be written, before the server starts.
///
/// # Errors
/// When it could not.
pub fn check_authority_file(path: Option<&Path>) -> Result<(), CommandError> {
    path.map_or(Ok(()), file::check_writable)
        .map_err(|error| CommandError::usage(format!("--tls-ca-out {error}")))
}

/// Writes the certificate of the authority, before anyone is told that the server is ready.
///
/// # Errors
/// When it cannot be written.
pub fn write_authority(path: Option<&Path>, tls: Option<&TlsOptions>) -> Result<(), CommandError> {
    let authority = tls.and_then(|tls| tls.identity.authority());
    let (Some(path), Some(authority)) = (path, authority) else { return Ok(()) };
    file::write_atomically(path, authority.as_bytes())
        .map_err(|error| CommandError::machine(format!("cannot write the CA certificate: {error}")))
}
