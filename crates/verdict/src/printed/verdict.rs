//! The verdict and the findings that ablaze itself printed: with its own report, and at the head of the
//! page of an experiment. They were seen in the runs, of which a text shows little, so `rules` takes them
//! over.

use ablaze_model::finding::{DiagnosisId, Severity, Verdict};

/// What ablaze printed of the worth of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedVerdict {
    /// As printed.
    pub verdict: Verdict,
    /// Its line is not in the text: what it was shows in the findings alone.
    pub lacks_line: bool,
    /// In the order of their lines.
    pub findings: Vec<PrintedFinding>,
    /// What the next line may go on with.
    goes_on: GoesOn,
}

/// What a line may go on with that begins no finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GoesOn {
    Nothing,
    /// The words of the last finding.
    Finding,
    /// The list of those that it explains; behind a comma comes another one.
    Explained {
        comma: bool,
    },
}

/// One printed finding.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedFinding {
    /// The diagnosis.
    pub id: DiagnosisId,
    /// How grave it is, where its line says so.
    pub severity: Option<Severity>,
    /// Its words: evidence, cause and fix as far as they were printed.
    pub text: String,
    /// Those that it explains, of which nothing else was printed.
    pub explains: Vec<DiagnosisId>,
}

/// The verdict that a cleaned line begins with.
pub fn verdict(line: &str) -> Option<Verdict> {
    let verdicts = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
    verdicts.into_iter().find(|verdict| {
        let after = line.strip_prefix(&verdict.to_string());
        after.is_some_and(|after| [" · ", "  ", "** "].iter().any(|next| after.starts_with(next)))
    })
}

impl PrintedVerdict {
    /// A verdict, so far without findings.
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, lacks_line: false, findings: Vec::new(), goes_on: GoesOn::Nothing }
    }

    /// One of which no more than its findings will be there.
    pub fn without_line() -> Self {
        Self { lacks_line: true, ..Self::new(Verdict::Valid) }
    }

    /// Takes a cleaned line among the findings.
    pub fn take(&mut self, line: &str) {
        let line = line.trim_start();
        let explained = line.strip_prefix("it explains ").or_else(|| match self.goes_on {
            GoesOn::Explained { comma } if comma || finding(line).is_none() => Some(line),
            _ => None,
        });
        if let (Some(names), Some(last)) = (explained, self.findings.last_mut()) {
            last.explains.extend(ids(names));
            self.goes_on = GoesOn::Explained { comma: names.trim_end().ends_with(',') };
            return;
        }
        if let Some(finding) = finding(line) {
            // A page says it in its list, and again in the report below.
            let known = self.findings.iter().any(|known| known.id == finding.id);
            let goes_on = !known && !line.starts_with("- ");
            self.goes_on = if goes_on { GoesOn::Finding } else { GoesOn::Nothing };
            self.findings.extend((!known).then_some(finding));
            return;
        }
        let other = ["passed ", "not observable here: ", "notes: ", "- "];
        if other.iter().any(|start| line.starts_with(start)) {
            self.goes_on = GoesOn::Nothing;
        }
        if let (Some(last), GoesOn::Finding) = (self.findings.last_mut(), self.goes_on) {
            last.text.extend([" ", line]);
        }
    }

    /// An empty line: the words of a finding have none in them.
    pub fn ends_a_finding(&mut self) {
        self.goes_on = GoesOn::Nothing;
    }

    /// Takes what ablaze says of a run on stderr where its report has another tool's form, a line for each finding;
    /// whether the line is one.
    pub fn of_stderr(said: &mut Option<Self>, line: &str) -> bool {
        let Some((before, rest)) = line.split_once("ablaze: D") else { return false };
        let Some(finding) = finding(&format!("D{rest}")).filter(|_| !before.ends_with('`')) else {
            return false;
        };
        let verdict = match finding.severity {
            Some(Severity::Invalid) => Verdict::Invalid,
            Some(Severity::Suspect) => Verdict::Suspect,
            Some(Severity::Note) => Verdict::Valid,
            None => return false,
        };
        let said = said.get_or_insert_with(|| Self::new(verdict));
        said.verdict = said.verdict.max(verdict);
        if said.findings.iter().all(|known| known.id != finding.id) {
            said.findings.push(finding);
        }
        true
    }
}

/// The diagnoses that a list names: `D11 client at its limit, D30 late sending`.
fn ids(names: &str) -> impl Iterator<Item = DiagnosisId> {
    let words = names.split_whitespace();
    words.filter_map(|word| DiagnosisId::ALL.iter().copied().find(|id| id.to_string() == word))
}

/// `D13  shared processors: …`, `note D14 too short: …`, `D13 SUSPECT shared processors, in 2 of 4 runs: …`,
/// `- 2 of 4 runs: D13 shared processors (SUSPECT)[^d13-1]`.
fn finding(line: &str) -> Option<PrintedFinding> {
    let named = |id: DiagnosisId| {
        let at = line.find(&id.to_string())?;
        let (before, after) = (&line[..at], line[at + 3..].trim_start());
        let severities = [Severity::Note, Severity::Suspect, Severity::Invalid];
        let first = severities.into_iter().find(|s| after.starts_with(&format!("{s} ")));
        let after = first.map_or(after, |first| after[first.to_string().len()..].trim_start());
        let text = after.strip_prefix(id.name())?;
        let own = before.is_empty() || before == "note " || before.starts_with("- ");
        let behind = severities.into_iter().find(|s| text.starts_with(&format!(" ({s})")));
        let note = (before == "note ").then_some(Severity::Note);
        let text = match before.starts_with("- ") {
            true => line.split("[^").next().unwrap_or(line).trim_start_matches("- "),
            false => text.trim_start_matches([':', ',']).trim_start(),
        };
        own.then(|| PrintedFinding {
            id,
            severity: first.or(note).or(behind),
            text: text.to_owned(),
            explains: Vec::new(),
        })
    };
    DiagnosisId::ALL.iter().find_map(|id| named(*id))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{D01, D02, D06, D11, D13, D30};
    use crate::finding::{Severity, Verdict};
    use crate::printed::read;
    use crate::rules::judge;

    const REPORT: &str = "\
SUSPECT · limited by CPUs shared by client and server: of 2 CPUs the server used 0.896,
          other processes 0.921
GET http://127.0.0.1:18081/ · HTTP/1.1 keep-alive · closed loop, 5 connections · 1 thread, io_uring

  894 requests/s    p50 3.81 ms   p95 12.3 ms   p99 17.1 ms [15.7–17.9]   max 18.8 ms   errors 0
  8,940 responses in 10.00 s · 200: 8,940 · 697 KiB/s

  D13  shared processors: Other processes used 0.921 of 2.00 CPUs, and a thread of the client spent
       17 % of the time waiting for one.
       it explains D11 client at its limit
  note D24 unoptimised target: The server writes a log.

              mean      p50      p75      p90      p95      p99  p99.9      max
  connect  42.9 µs        -        -        -        -        -      -   106 µs   5×, before the clock
  connect   338 µs   282 µs   361 µs   429 µs   544 µs  2.67 ms      -  4.06 ms   8,935×, during the run
  total    5.18 ms  3.81 ms  6.48 ms  10.3 ms  12.3 ms  17.1 ms      -  18.8 ms
";

    #[test]
    fn what_follows_the_findings_of_an_experiment_is_none_of_their_words() {
        let report = "INVALID · limit unknown in 6 of 6 runs\n  D14 SUSPECT too short, in 6 of 6 runs: The run \
                      took 12.0 ms.\n  D15 note noise: 3 runs of a ranged from 1 to 2/s:\n      a spread of 66 %.\n\n     \
                      rate /s  slowest–fastest\n  a   27,728    16,639–47,981\n\n  no ranking: the work is not equal\n";
        let said = &read(report).verdicts[0];
        let words: Vec<&str> = said.findings.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(words[1], "3 runs of a ranged from 1 to 2/s: a spread of 66 %.", "{words:?}");
    }

    #[test]
    fn the_verdict_and_the_findings_of_a_report_are_taken_over() {
        let judgement = judge(&read(REPORT));
        let judged = &judgement.reports[0];
        assert_eq!(judged.verdict(), Verdict::Suspect);
        let ids: Vec<String> = judged.findings.iter().map(|f| f.id.to_string()).collect();
        assert_eq!(ids, ["D11", "D13", "D24"]);
        let explained: Vec<_> = judged.findings.iter().map(|f| f.explained_by).collect();
        assert_eq!(explained, [Some(D13), None, None]);
        assert!(judged.findings[1].evidence.ends_with("spent 17 % of the time waiting for one."));
        let invalid = REPORT.replace("SUSPECT ·", "INVALID ·");
        assert_eq!(judge(&read(&invalid)).reports[0].verdict(), Verdict::Invalid);
        let valid = REPORT.replace("SUSPECT ·", "VALID ·").replace("  D13  ", "  note D13 ");
        assert_eq!(judge(&read(&valid)).reports[0].verdict(), Verdict::Valid);
    }

    #[test]
    fn what_the_run_did_not_find_is_not_found_in_its_text() {
        // Those in flight at the end are in no response's time: 302/s × 0.05 s is far from 300.
        let text = "\
SUSPECT · limited by the round trip: each of the 300 requests in flight took 49 ms
GET http://127.0.0.1:24410/ · HTTP/1.1 a connection per request · closed loop, 300 connections · 1 thread, io_uring

  302 requests/s    p50 45.0 ms   p95 91.2 ms   p99 97.0 ms [90–98]   max 98.5 ms   errors 0
  604 responses in 2.00 s · 200: 604 · 48.3 KiB/s
  unfinished          300    in flight at the end, the oldest for at least 2.00 s

  D13  shared processors: Other processes used 1.77 of 2.00 CPUs. Something else ran.
       it explains D30 late
       sending, D11 client at its limit,
       D01 concurrency not reached

              mean      p50      p75      p90      p95      p99  p99.9      max
  connect   180 ms   609 µs        -        -        -        -      -  1.05 s   604×, during the run
  total    49.0 ms  45.0 ms  60.0 ms  80.0 ms  91.2 ms  97.0 ms      -  98.5 ms
";
        let judgement = judge(&read(text));
        let judged = &judgement.reports[0];
        assert_eq!(judged.verdict(), Verdict::Suspect);
        let ids: Vec<_> = judged.findings.iter().map(|f| (f.id, f.explained_by)).collect();
        let by = Some(D13);
        assert_eq!(ids, [(D01, by), (D11, by), (D13, None), (D30, by)]);
        // Without them it is VALID, though it was short.
        let start = text.find("  D13").unwrap();
        let end = text.find("              mean").unwrap();
        let valid = format!("{}{}", &text[..start], &text[end..]).replace("SUSPECT", "VALID");
        let judgement = judge(&read(&valid));
        assert_eq!(judgement.reports[0].verdict(), Verdict::Valid);
        assert_eq!(judgement.reports[0].findings, []);
    }

    #[test]
    fn what_ablaze_ab_said_on_stderr_is_taken_over() {
        let report = "\
This is ablaze, Version 0.1.0: ab's options and report
Server Hostname:        127.0.0.1
Server Port:            24402
Document Path:          /
Document Length:        100 bytes
Concurrency Level:      20
Time taken for tests:   0.100 seconds
Complete requests:      100
Failed requests:        0
Total transferred:      16400 bytes
HTML transferred:       10000 bytes
Requests per second:    1000.00 [#/sec] (mean)
Percentage of the requests served within a certain time (ms)
  50%      0
 100%      1 (longest request)
";
        let said = "ablaze: D02 INVALID no response: 60 of 160 requests got none. Why. Fix.\n";
        for text in [format!("{report}{said}"), format!("{said}{report}")] {
            let judgement = judge(&read(&text));
            let judged = &judgement.reports[0];
            assert_eq!(judged.verdict(), Verdict::Invalid, "{text}");
            let ids: Vec<_> = judged.findings.iter().map(|f| f.id).collect();
            assert_eq!(ids, [D02, D06], "its times are in whole milliseconds");
            assert_eq!(judged.findings[1].severity, Severity::Note);
        }
    }

    /// Quoted from its figures on.
    #[test]
    fn what_ablaze_ab_said_is_taken_over_without_its_first_lines() {
        let report = "Server Hostname:        127.0.0.1\nServer Port:            24402\nDocument Path:          /\n\
                      Document Length:        100 bytes\nConcurrency Level:      20\nTime taken for tests:   2.000 seconds\n\
                      Complete requests:      2000\nFailed requests:        7\n   \
                      (Connect: 0, Receive: 7, Length: 0, Exceptions: 0)\nTotal transferred:      326852 bytes\n\
                      HTML transferred:       199300 bytes\nRequests per second:    1000.00 [#/sec] (mean)\n";
        let said = "ablaze: D02 INVALID no response: 60 of 160 requests got none. Why. Fix.\n";
        let invalid = |text: &str| {
            let findings = judge(&read(text)).reports.remove(0).findings;
            findings.iter().any(|one| one.id == D02 && one.severity == Severity::Invalid)
        };
        assert!(invalid(&format!("{report}{said}")));
        assert!(invalid(&format!(
            "$ ablaze ab -c 20 -n 2000 http://127.0.0.1:24402/\n{report}{said}"
        )));
        // Another program's.
        assert!(!invalid(&format!("This is ApacheBench, Version 2.3\n{report}{said}")));
        assert!(!invalid(&format!("$ ab -c 20 -n 2000 http://127.0.0.1:24402/\n{report}{said}")));
    }

    #[test]
    fn connections_made_during_the_run_were_not_kept() {
        use crate::printed::Connections;
        assert_eq!(read(REPORT).reports[0].connections, Connections::PerRequest);
        let few = REPORT.replace("8,935×", "35×");
        assert_eq!(read(&few).reports[0].connections, Connections::Kept(None));
    }

    #[test]
    fn the_page_of_an_experiment_keeps_its_verdict() {
        let page = "# a, b\n\n**INVALID** 4 of 4 runs limited by the server\n\n\
                    - 4 of 4 runs: D13 shared processors (SUSPECT)[^d13-1]\n\
                    - all runs together: D05 unequal comparison (INVALID)[^d05-4]\n\n\
                    ## Targets\n\n| target | rate /s | slowest–fastest | p50 |\n|:--|--:|--:|--:|\n\
                    | a | 12,345 | 12,000–12,500 | 9 µs |\n| b | 7 | 6–8 | 1 s |\n";
        let judgement = judge(&read(page));
        let judged = &judgement.comparisons[0];
        assert_eq!(judged.verdict(), Verdict::Invalid);
        let found: Vec<String> = judged.findings.iter().map(|f| f.id.to_string()).collect();
        assert_eq!(found, ["D05", "D13"]);
        let without = page.replace("**INVALID**", "INVALID");
        assert_eq!(judge(&read(&without)).comparisons[0].verdict(), Verdict::Valid);
    }
}
