//! D25: servers that differ in how they wait for a socket to take more (level-triggered or
//! edge-triggered) are compared with a load under which no socket ever was full.

use super::comparison::Comparison;
use super::differences::bytes;
use super::work::Server;
use crate::DiagnosisId::D25;
use crate::finding::{Finding, Severity};
use crate::words::listed;

/// Words of a command line that name a way of waiting, and nothing else that serves.
const WAYS: [&str; 8] =
    ["epoll-lt", "epoll-et", "lt", "et", "level", "edge", "level-triggered", "edge-triggered"];

/// A body that fits into what every connection has, unless it was told otherwise.
const FITS_BYTES: f64 = 65_536.0;

pub fn check(comparison: &Comparison) -> Option<Finding> {
    let members = &comparison.members;
    let servers: Vec<&Server> =
        members.iter().map(|member| member.work.as_ref()?.server()).collect::<Option<_>>()?;
    let ways = ways_apart(&servers)?;
    let waited_ns: u64 =
        servers.iter().map(|server| server.write_waited_ns).sum::<Option<u64>>()?;
    let bodies = members.iter().map(|member| member.work.as_ref()?.body_bytes);
    let largest = bodies.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
    if waited_ns > 0 || servers.iter().any(|server| sets_its_buffer(server)) {
        return None;
    }
    let evidence = format!(
        "The servers' command lines differ only in {}, and in none of the {} runs did TCP hold back what \
         a server had written: its buffers were full for 0 ms. The largest body had {} B.",
        listed(ways.iter().map(|way| format!("`{way}`"))),
        members.len(),
        bytes(largest)
    );
    let (severity, cause) = if largest <= FITS_BYTES {
        (
            Severity::Suspect,
            "Where no write has to wait for room, the code that these ways of waiting differ in does \
             not run: the difference measured is not theirs.",
        )
    } else {
        (
            Severity::Note,
            "Linux lets a connection's send buffer grow to some megabytes, so that even such a body may \
             have found room at once; then the code that these ways of waiting differ in never ran. \
             Waits shorter than a timer tick (1 to 10 ms) do not show here.",
        )
    };
    Some(Finding::new(
        D25,
        severity,
        evidence,
        cause,
        "Use bodies larger than the server's send buffer, or a smaller buffer (ablaze's own servers: \
         `ablaze serve --size 1MiB --sndbuf 65536`), and compare again.",
    ))
}

/// Whether it was told how large its send buffer is to be: then it may have been full, for less than
/// TCP counts.
fn sets_its_buffer(server: &Server) -> bool {
    words(server).iter().any(|word| word.contains("sndbuf"))
}

/// What the only word is in which these command lines differ, if it names ways of waiting.
fn ways_apart(servers: &[&Server]) -> Option<Vec<String>> {
    let lines: Vec<Vec<String>> = servers.iter().map(|server| words(server)).collect();
    let (first, others) = lines.split_first()?;
    if others.iter().any(|line| line.len() != first.len()) {
        return None;
    }
    let differs = |at: &usize| others.iter().any(|line| line[*at] != first[*at]);
    let places: Vec<usize> = (0..first.len()).filter(differs).collect();
    let [place] = places[..] else { return None };
    let mut ways: Vec<String> = lines.into_iter().map(|mut line| line.swap_remove(place)).collect();
    ways.sort_unstable();
    ways.dedup();
    ways.iter().all(|way| WAYS.contains(&way.as_str())).then_some(ways)
}

/// Words in lower case, `--model=x` as two.
fn words(server: &Server) -> Vec<String> {
    server.command_line.iter().flat_map(|word| word.split('=')).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(line: &str) -> Server {
        Server {
            command_line: line.split(' ').map(str::to_owned).collect(),
            threads: Some(1),
            busiest: 0.9,
            write_waited_ns: Some(0),
        }
    }

    #[test]
    fn only_the_way_of_waiting_may_differ() {
        let ways = |lines: &[&str]| {
            let servers: Vec<Server> = lines.iter().map(|line| server(line)).collect();
            ways_apart(&servers.iter().collect::<Vec<_>>())
        };
        let (lt, et) = ("serve --model epoll-lt -s 9", "serve --model=epoll-et -s 9");
        let both = Some(vec!["epoll-et".to_owned(), "epoll-lt".to_owned()]);
        assert_eq!(ways(&[lt, et]), both);
        assert_eq!(ways(&[et, lt, lt, et]), both);
        assert_eq!(ways(&["./sylar LT", "./sylar ET"]).map(|ways| ways.len()), Some(2));
        assert_eq!(ways(&[lt, lt]), None);
        assert_eq!(ways(&[lt, "serve --model epoll-et -s 8"]), None);
        assert_eq!(ways(&[lt, "serve --model uring -s 9"]), None);
        assert_eq!(ways(&[lt, "serve"]), None);
        assert_eq!(ways(&[]), None);
    }
}
