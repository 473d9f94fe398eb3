//! Reports as the tools printed them, under the commands that made them: nothing in them contradicts anything, and none is of
//! another command.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Finding;
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;

const REAL: &str = include_str!("../printed/real-commands.txt");
const AB: &str = include_str!("../printed/real-ab.txt");

fn under(text: &str, command: &str) -> String {
    let mut runs =
        text.split("\n$ ").map(|run| format!("$ {}\n", run.trim_start_matches("$ ").trim_end()));
    runs.find(|run| run.starts_with(command)).unwrap_or_else(|| panic!("no {command}"))
}

fn found(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn has(id: DiagnosisId, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.id == id)
}

/// The server closes: that is no other command's (D19 says it).
#[test]
fn a_server_that_closes_did_not_ask_for_it() {
    let findings = found(&under(REAL, "$ ablaze -d 1s -c 10 "));
    assert!(has(D19, &findings) && !has(D36, &findings), "{findings:?}");
}

#[test]
fn connections_are_what_is_asked_for_however_many_streams_they_have() {
    let text = under(REAL, "$ ablaze -n 1000 -c 20 --http 2 --streams 4 ");
    assert!(!has(D36, &found(&text)), "{text}");
    let pipelined = text.replace("--http 2 --streams 4", "--pipeline 4");
    let pipelined = pipelined.replace("HTTP/2 keep-alive", "HTTP/1.1 keep-alive");
    let pipelined = pipelined.replace("20 connections × 4 streams", "20 connections × 4 pipelined");
    assert!(!has(D36, &found(&pipelined)), "{pipelined}");
    let other = text.replace("-c 20", "-c 30");
    assert!(has(D36, &found(&other)), "{other}");
}

/// `ablaze h2load` has a row of each connection, and this server closed them often.
#[test]
fn connections_that_were_opened_again_are_more_than_the_clients() {
    let text = under(REAL, "$ ablaze h2load ");
    assert!(!has(D43, &found(&text)), "{text}");
    // h2load itself has one value for each of its clients.
    let other = text.replace("$ ablaze h2load", "$ h2load");
    let other = &other[..other.find("ablaze: D14").unwrap()];
    assert!(has(D43, &found(other)), "{other}");
}

#[test]
fn a_warning_is_no_end() {
    let text = under(REAL, "$ h2load -n 1003 ");
    let judged = read(&text);
    assert!(judged.aborts.is_empty(), "{:?}", judged.aborts);
    assert_eq!(judged.reports[0].command.as_ref().map(|command| command.concurrency), Some((7, 7)));
    assert!(!has(D02, &found(&text)), "{text}");
}

/// All bodies came, by ab's own count and to the byte: it is the total that is wrong.
#[test]
fn bytes_that_others_contradict_do_not_make_responses_missing() {
    let whole = under(AB, "$ ab ");
    let figure = |label: &str| {
        let line = whole.lines().find(|line| line.starts_with(label)).expect(label);
        (line.to_owned(), line.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap())
    };
    let (total_line, total) = figure("Total transferred:");
    let (_, body) = figure("HTML transferred:");
    let (complete_line, complete) = figure("Complete requests:");
    assert!(!has(D02, &found(&whole)) && body > 0);
    // Three bytes are left for each head.
    let edited = total_line.replace(&total.to_string(), &(body + 3 * complete).to_string());
    let findings = found(&whole.replace(&total_line, &edited));
    assert!(has(D43, &findings) && !has(D02, &findings), "{findings:?}");
    // Ten times the requests: each then brought less than a response has, if that is the right number.
    let edited = complete_line.replace(&complete.to_string(), &(complete * 100).to_string());
    let findings = found(&whole.replace(&complete_line, &edited));
    assert!(has(D43, &findings) && !has(D02, &findings), "{findings:?}");
}
