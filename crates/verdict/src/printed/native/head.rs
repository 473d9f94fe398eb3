//! The head of ablaze's report: what was loaded, and the shape of the load.

use super::super::line::{count, number};
use super::super::{Connections, Report};
use super::ASKED;

/// Where in a line a report of ablaze begins: `GET http://… · HTTP/1.1 …`, perhaps behind what a
/// log puts before every line.
pub fn begins_at(line: &str) -> Option<usize> {
    if let Some(at) = journey_at(line) {
        return Some(at);
    }
    let url_at = [" http://", " https://"].iter().filter_map(|scheme| line.find(scheme)).min()?;
    let before = &line[..url_at];
    let at = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let method = &before[at..];
    let is_method =
        !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    let after: Vec<&str> = line[url_at..].split_whitespace().skip(1).take(2).collect();
    let goes_on = match after.as_slice() {
        [] => true,
        [dot, next] => {
            // With a list: `GET http://… · 4 URLs of FILE · HTTP/1.1 …`.
            *dot == "·" && (next.starts_with("HTTP/") || line[url_at..].contains(" URLs of "))
        }
        _ => false,
    };
    // `### GET http://…` is a heading.
    let is_heading = after.is_empty() && at > 0 && line[..at].trim_end().bytes().all(|b| b == b'#');
    (is_method && goes_on && !is_heading).then_some(at)
}

/// The same of journeys: `journey shop.hurl, 4 steps, to http://… · HTTP/1.1 …`, `journeys buy ×1, browse ×3, 7 steps, to …`.
fn journey_at(line: &str) -> Option<usize> {
    let (what, rest) = line.split_once(TO_URL)?;
    let at = ["journey ", "journeys "].iter().filter_map(|word| what.find(word)).min()?;
    let is_word = at == 0 || what[..at].ends_with(char::is_whitespace);
    let (_, steps) = what[at..].rsplit_once(", ")?;
    let steps = steps.strip_suffix('s').unwrap_or(steps).strip_suffix(" step")?;
    let goes_on = rest.split(" · ").nth(1).is_none_or(|next| next.trim().starts_with("HTTP/"));
    (is_word && goes_on && count(steps).is_some()).then_some(at)
}

const TO_URL: &str = ", to http";

/// Takes what the head says, or one line of it.
pub fn head(report: &mut Report, line: &str) {
    for item in line.split(" · ") {
        let item = item.trim();
        if let Some((_, rest)) = item.split_once(TO_URL).filter(|_| journey_at(item).is_some()) {
            let first = rest.split([' ', ',']).next().unwrap_or_default();
            url(report, &format!("http{first}"));
            // Its steps ask for paths of their own.
            report.path = None;
        } else if begins_at(item).is_some() {
            url(report, item.split_whitespace().nth(1).unwrap_or_default());
        }
        if item.contains("keep-alive") {
            (report.connections, report.asked_to_keep) = (Connections::Kept(None), true);
        } else if item.contains("a connection per request") {
            report.connections = Connections::PerRequest;
        }
        if let Some(rate) = item.strip_prefix("open loop, ") {
            report.open_loop = true;
            let asked = number(rate).filter(|(_, rest)| rest.starts_with("/s evenly spaced"));
            report.own.extend(asked.map(|(rate, _)| (ASKED, rate)));
        }
        // Users may pause: how many requests they have in flight is not printed.
        let shape = item.strip_prefix("closed loop, ").filter(|shape| !shape.contains(" user"));
        if let Some(connections) = shape.and_then(count) {
            let pipeline = item.split_once("× ").and_then(|(_, rest)| count(rest)).unwrap_or(1);
            report.concurrency = Some(connections.saturating_mul(pipeline));
            // `-c` is the number of connections, however many requests each has in flight.
            report.clients = (pipeline > 1).then_some(connections);
        }
    }
}

/// Takes host, port and path of a URL.
pub fn url(report: &mut Report, url: &str) {
    report.tls = url.starts_with("https://");
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, "/"), |at| rest.split_at(at));
    // wrk prints the URL as typed: who asks is no part of the host.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (authority, Some(if report.tls { 443 } else { 80 })),
    };
    // An address of IPv6 stands in brackets.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    // Somebody may have taken the host out.
    let is_there = !host.is_empty();
    report.host = is_there.then(|| host.to_owned());
    report.port = port.filter(|_| is_there);
    report.path = Some(if path.starts_with('/') { path.to_owned() } else { format!("/{path}") });
}
