//! The hosts of a journey or a list: every scheme, host and port that its file names. Their addresses are resolved, and their
//! TLS is made, before the run; a step that goes anywhere else fails.

use std::collections::HashSet;

use ablaze_journey::Site;
use ablaze_model::plan::origins::Origin;
use ablaze_model::plan::tls::Tls;
use ablaze_model::printable::printable;
use ablaze_model::spec::{LoadSpec, Secrets, TlsSpec, UrlSpec};
use ablaze_wire::url::Url;

use super::journey::Given;
use super::users::Walked;
use super::{OptionNames, addresses, tls};
use crate::Error;

/// More hosts than this are refused: each user may have a connection to each.
pub(super) const MOST: usize = 64;

/// A host beside the target.
#[derive(Debug, Clone)]
pub struct Other {
    /// Where it is.
    pub url: UrlSpec,
    /// TLS on connections to it.
    pub tls: Option<Tls>,
}

/// The sites of a journey: `first`, which is that of the target, and those of the steps in their order.
///
/// # Errors
/// A URL that is none, of too many hosts, or where no step goes to the target.
pub(super) fn sites(
    walked: &Walked<'_>,
    given: &Given,
    first: Site,
) -> Result<(Vec<Site>, Vec<UrlSpec>), Error> {
    let mut sites = vec![first];
    let mut others = Vec::new();
    // A URL that is known only in the run may go anywhere.
    let mut uses_first = false;
    let mut elsewhere = None;
    for index in 0..walked.journey.steps.len() {
        let Some(urls) = given.urls_of(&walked.journey, index) else {
            uses_first = true;
            continue;
        };
        for text in urls {
            if let Some((site, _)) = Site::find(&sites, text.as_bytes()) {
                uses_first |= site == 0;
                continue;
            }
            let url = url_of(&text).map_err(|what| walked.wrong(index, &what))?;
            if sites.len() == MOST {
                let what = format!("the steps go to more than {MOST} hosts");
                return Err(walked.wrong(index, &what));
            }
            let Site { user_agent, minor_version, has_streams, keep_alive, .. } = sites[0].clone();
            let mut site = Site::of(&url, user_agent);
            (site.minor_version, site.has_streams) = (minor_version, has_streams);
            site.keep_alive = keep_alive;
            sites.push(site);
            elsewhere.get_or_insert((index, text));
            others.push(UrlSpec::from(&url));
        }
    }
    match elsewhere {
        Some((index, text)) if !uses_first => {
            let what = format!(
                "the URL {} goes elsewhere than to {}, and so does every other step (fix: leave the URL of the command \
                 out, or write the path alone)",
                printable(&text),
                sites[0].url()
            );
            Err(walked.wrong(index, &what))
        }
        _ => Ok((sites, others)),
    }
}

/// The origin of a step's URL.
///
/// # Errors
/// In words: what is wrong with it.
pub(super) fn url_of(text: &str) -> Result<Url, String> {
    if !text.contains("://") {
        return Err(format!(
            "the URL {} has no scheme: expected http://… or https://…",
            printable(text)
        ));
    }
    let mut url = Url::parse(text).map_err(|error| error.to_string())?;
    if url.userinfo.is_some() {
        return Err("user and password in a URL are not supported (fix: [BasicAuth])".to_owned());
    }
    url.path_and_query = "/".to_owned();
    Ok(url)
}

/// The TLS of the other hosts; `--sni` names the target alone.
///
/// # Errors
/// When it cannot be used, or something else in the spec is for one host.
pub fn secured(
    spec: &LoadSpec,
    tls: &TlsSpec,
    others: Vec<UrlSpec>,
    protocol: Option<&str>,
    secrets: &Secrets,
) -> Result<Vec<Other>, Error> {
    let Some(first) = others.first() else { return Ok(Vec::new()) };
    let destination = &spec.destination;
    let one_way = [
        ("--proxy", destination.proxy.is_some()),
        ("--unix-socket", destination.unix_socket.is_some()),
        ("--pipeline", spec.in_flight > 1 && !spec.has_streams()),
    ];
    if let Some((option, _)) = one_way.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::usage(format!(
            "{option} and several hosts cannot be used together in this version: requests also go to {}",
            first.host_field()
        )));
    }
    let asked = TlsSpec { server_name: None, ..tls.clone() };
    let other = |url: UrlSpec| {
        let tls = url.https.then(|| tls::resolve(&asked, &url.host, protocol, secrets));
        Ok(Other { tls: tls.transpose()?, url })
    };
    others.into_iter().map(other).collect()
}

/// Their addresses.
///
/// # Errors
/// As those of the target.
pub fn placed(
    others: Vec<Other>,
    spec: &LoadSpec,
    names: &OptionNames,
) -> Result<Vec<Origin>, Error> {
    let origin = |Other { url, tls }: Other| {
        let mut locals = spec.connections.local_addresses.clone();
        let mut addresses = addresses::resolve(&url, &spec.destination, names)?;
        super::local::match_families(&mut addresses, &mut locals)?;
        let scheme = if url.https { "https" } else { "http" };
        let shown = format!("{scheme}://{}", url.host_field());
        Ok(Origin { url: shown, host: url.host, port: url.port, addresses, tls })
    };
    others.into_iter().map(origin).collect()
}

/// The different ones of many URLs by where they go.
pub(super) fn by_host(urls: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut different = Vec::new();
    for url in urls {
        let behind = url.find("://").map_or(0, |at| at + 3);
        let end = url[behind..].find(['/', '?', '#']).map_or(url.len(), |end| behind + end);
        if !seen.contains(&url[..end]) {
            seen.insert(url[..end].to_owned());
            different.push(url);
        }
        if different.len() > MOST {
            break;
        }
    }
    different
}
