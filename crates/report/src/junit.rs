//! The XML that JUnit's Ant task made common and every build server reads: suites of cases that passed, failed or were
//! skipped. Written so that it fits the schema that Jenkins publishes (`junit-10.xsd`).

use std::fmt::Write as _;

use ablaze_model::Assessed;
use ablaze_model::experiment::Held;
use ablaze_model::finding::{Finding, Severity, Verdict};
use ablaze_model::printable::printable;

use crate::condition::Conditions;
use crate::held;
use crate::number::{counted, grouped, time};

/// The cases of one run or one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// What was measured.
    pub name: String,
    /// How long that took, ns; 0 where it is not known.
    pub elapsed_ns: u64,
    /// What had to hold, in the order of reports.
    pub cases: Vec<Case>,
}

/// Something that had to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What kind of thing: `condition`, `check`, `journey`, `step`, `setup`, `verdict`, `responses`, `search`.
    pub class: &'static str,
    /// What had to hold.
    pub name: String,
    /// How it came out.
    pub outcome: CaseOutcome,
    /// What else there is to be said; may be empty.
    pub output: String,
}

/// How a case came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseOutcome {
    /// It holds.
    Passed,
    /// It holds, and there is a doubt: which.
    Doubtful(String),
    /// It does not: why.
    Failed(String),
    /// It was not held against the run: why.
    Skipped(String),
}

/// The cases of a run: that it has responses as expected, its verdict, its conditions, its checks.
pub fn of_run(assessed: &Assessed, conditions: &Conditions) -> Suite {
    let run = &assessed.run;
    let judged = &assessed.judged;
    let mut cases = vec![responses(assessed)];
    cases.push(of_verdict(judged.verdict, &judged.findings, conditions.strict));
    cases.extend(conditions.judged(run).into_iter().map(|judged| Case {
        class: "condition",
        name: format!("{} {}", judged.option, judged.text),
        outcome: judged.failure.map_or(CaseOutcome::Passed, CaseOutcome::Failed),
        output: judged.figure.map(|figure| format!("measured: {figure}")).unwrap_or_default(),
    }));
    cases.extend(held::of_run(run).iter().map(|held| of_held(held, None)));
    let name = crate::text::what_was_loaded(run);
    Suite { name, elapsed_ns: run.elapsed_ns, cases }
}

/// What had to hold of responses or journeys, in the runs of `target` where there are several.
pub fn of_held(held: &Held, target: Option<&str>) -> Case {
    let Held { class, what, of, looked_at, failed, first } = held;
    let count = counted(*looked_at, of);
    Case {
        class,
        name: target.map_or_else(|| what.clone(), |target| format!("{target}: {what}")),
        outcome: match (failed, looked_at) {
            (_, 0) => CaseOutcome::Skipped(format!("it looked at no {of}")),
            (0, _) => CaseOutcome::Passed,
            _ => {
                let first = if first.is_empty() { first.clone() } else { format!(": {first}") };
                CaseOutcome::Failed(format!("failed for {} of {count}{first}", grouped(*failed)))
            }
        },
        output: format!("{count}, {} failed", grouped(*failed)),
    }
}

/// The case of a verdict. INVALID fails where `strict` asks for that, as the exit status does; otherwise the case is skipped,
/// because nothing was shown either way. SUSPECT passes, with its findings as output.
pub fn of_verdict(verdict: Verdict, findings: &[Finding], strict: bool) -> Case {
    let roots = findings.iter().filter(|finding| finding.explained_by.is_none());
    let lines: Vec<(Severity, String)> =
        roots.map(|finding| (finding.severity, in_a_line(finding))).collect();
    of_judged(verdict, &lines, "", strict)
}

/// The same of findings in words, each with its severity; `why` there is a verdict that none of them made, empty if there is
/// no more to say.
pub fn of_judged(
    verdict: Verdict,
    findings: &[(Severity, String)],
    why: &str,
    strict: bool,
) -> Case {
    // Of several of one severity the first: they come with the gravest first, or by number.
    let gravest = findings.iter().rev().max_by_key(|(severity, _)| *severity);
    let because = match (why.is_empty(), gravest) {
        (false, _) => format!("{verdict}: {why}"),
        (true, Some((_, line))) => line.clone(),
        (true, None) => verdict.to_string(),
    };
    let head = if why.is_empty() { verdict.to_string() } else { because.clone() };
    let lines = std::iter::once(head).chain(findings.iter().map(|(_, line)| line.clone()));
    Case {
        class: "verdict",
        name: "the verdict is not INVALID".to_owned(),
        output: lines.collect::<Vec<_>>().join("\n"),
        outcome: match (verdict, strict) {
            (Verdict::Invalid, true) => CaseOutcome::Failed(because),
            (Verdict::Invalid, false) => CaseOutcome::Skipped(because),
            (Verdict::Suspect, _) => CaseOutcome::Doubtful(because),
            (Verdict::Valid, _) => CaseOutcome::Passed,
        },
    }
}

/// `D02 INVALID no response: …`: what was seen, why, and what to do.
pub fn in_a_line(finding: &Finding) -> String {
    let Finding { id, severity, cause, fix, .. } = finding;
    let said = [&finding.evidence_in_line(), cause, fix].map(|text| text.trim()).join(" ");
    format!("{id} {severity} {}: {}", id.name(), said.trim_end())
}

/// Whether a response came as expected: without one the command fails, whatever else was asked.
fn responses(assessed: &Assessed) -> Case {
    let record = &assessed.run.record;
    let output = format!(
        "{} responses in {}, {} of them unexpected, {} errors",
        grouped(record.responses),
        time(assessed.run.elapsed_ns as f64),
        grouped(record.responses - record.succeeded()),
        grouped(record.failures_total())
    );
    let outcome = match record.succeeded() {
        0 => CaseOutcome::Failed("no response was as expected".to_owned()),
        _ => CaseOutcome::Passed,
    };
    Case { class: "responses", name: "some responses came as expected".to_owned(), outcome, output }
}

/// The suites as a document.
pub fn write(suites: &[Suite]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let elapsed_ns = suites.iter().map(|suite| suite.elapsed_ns).sum();
    let (tests, failures, _) = counts(&all);
    // Jenkins' schema counts skipped cases in suites alone.
    let _ = writeln!(
        xml,
        r#"<testsuites name="ablaze" tests="{tests}" failures="{failures}" errors="0" time="{}">"#,
        seconds(elapsed_ns)
    );
    for suite in suites {
        let cases: Vec<&Case> = suite.cases.iter().collect();
        let (tests, failures, skipped) = counts(&cases);
        let _ = writeln!(
            xml,
            r#"  <testsuite name="{}" tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}" time="{}">"#,
            escaped(&suite.name),
            seconds(suite.elapsed_ns)
        );
        suite.cases.iter().for_each(|case| write_case(&mut xml, case));
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn write_case(xml: &mut String, case: &Case) {
    let (class, name) = (case.class, escaped(&case.name));
    let _ = writeln!(xml, r#"    <testcase classname="ablaze.{class}" name="{name}" time="0">"#);
    let _ = match &case.outcome {
        CaseOutcome::Passed | CaseOutcome::Doubtful(_) => Ok(()),
        CaseOutcome::Failed(why) => {
            let why = escaped(why);
            writeln!(xml, r#"      <failure type="{class}" message="{why}">{why}</failure>"#)
        }
        CaseOutcome::Skipped(why) => {
            writeln!(xml, r#"      <skipped message="{}"/>"#, escaped(why))
        }
    };
    if !case.output.is_empty() {
        let output: Vec<String> = case.output.lines().map(escaped).collect();
        let _ = writeln!(xml, "      <system-out>{}</system-out>", output.join("\n"));
    }
    xml.push_str("    </testcase>\n");
}

/// How many cases there are, how many failed, how many were skipped.
fn counts(cases: &[&Case]) -> (usize, usize, usize) {
    let of = |wanted: fn(&CaseOutcome) -> bool| {
        cases.iter().filter(|case| wanted(&case.outcome)).count()
    };
    let failed = of(|outcome| matches!(outcome, CaseOutcome::Failed(_)));
    (cases.len(), failed, of(|outcome| matches!(outcome, CaseOutcome::Skipped(_))))
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

/// Text for content and attributes. Control characters are spelled out, and so the characters that XML 1.0 (section 2.2) has
/// no way to write never come here, but for the two non-characters at the end of the plane.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;
    use crate::sample;

    fn conditions(fail_if: &[&str], slo: &[&str], strict: bool) -> Conditions {
        let parsed = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Conditions { fail_if: parsed(fail_if), slo: parsed(slo), strict }
    }

    /// Class, name and the element that says how it came out, of every case.
    fn outcomes(xml: &str) -> Vec<(String, String, Option<String>)> {
        let document = Document::parse(xml).unwrap();
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        cases
            .map(|case| {
                let outcome = case
                    .children()
                    .find(|child| child.has_tag_name("failure") || child.has_tag_name("skipped"));
                (
                    case.attribute("classname").unwrap().to_owned(),
                    case.attribute("name").unwrap().to_owned(),
                    outcome.map(|outcome| outcome.tag_name().name().to_owned()),
                )
            })
            .collect()
    }

    #[test]
    fn every_condition_and_check_is_a_case_and_fails_as_the_command_does() {
        let assessed = sample::assessed(&sample::checked());
        let conditions = conditions(&["rate>1", "errors>1M"], &["rate>1", "rate<1"], false);
        let xml = write(&[of_run(&assessed, &conditions)]);
        let outcomes = outcomes(&xml);
        let of = |class: &str| -> Vec<(&str, Option<&str>)> {
            let of = outcomes.iter().filter(|(own, ..)| own == class);
            of.map(|(_, name, outcome)| (name.as_str(), outcome.as_deref())).collect()
        };
        assert_eq!(
            of("ablaze.condition"),
            [
                ("--fail-if rate>1", Some("failure")),
                ("--fail-if errors>1M", None),
                ("--slo rate>1", None),
                ("--slo rate<1", Some("failure")),
            ]
        );
        assert_eq!(
            of("ablaze.check"),
            [
                ("status==200", Some("failure")),
                ("json $.id > 0", None),
                ("header x exists", Some("skipped")),
                ("size<1MB", None),
            ]
        );
        assert_eq!(of("ablaze.responses"), [("some responses came as expected", None)]);
    }

    #[test]
    fn the_counts_are_those_of_the_cases() {
        let assessed = sample::assessed(&sample::checked());
        let xml = write(&[of_run(&assessed, &conditions(&["rate>1"], &[], false))]);
        let document = Document::parse(&xml).unwrap();
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        for (attribute, tag) in
            [("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")]
        {
            let counted = suite.descendants().filter(|node| node.has_tag_name(tag)).count();
            assert_eq!(suite.attribute(attribute), Some(&*counted.to_string()), "{attribute}");
        }
    }

    #[test]
    fn invalid_fails_under_strict_alone() {
        let case = |strict| of_verdict(Verdict::Invalid, &[], strict).outcome;
        assert!(matches!(case(true), CaseOutcome::Failed(_)));
        assert!(matches!(case(false), CaseOutcome::Skipped(_)));
        let suspect = of_verdict(Verdict::Suspect, &[], true).outcome;
        assert!(matches!(suspect, CaseOutcome::Doubtful(_)));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</testcase>\"'&]]>\u{0}\u{1b}[2J\u{ffff}\r\n<!--";
        let case = Case {
            class: "check",
            name: hostile.to_owned(),
            outcome: CaseOutcome::Failed(hostile.to_owned()),
            output: hostile.to_owned(),
        };
        let suite = Suite { name: hostile.to_owned(), elapsed_ns: 1, cases: vec![case] };
        let xml = write(&[suite]);
        let document = Document::parse(&xml).unwrap();
        let case = document.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert!(case.attribute("name").unwrap().starts_with("</testcase>\"'&]]>"));
        assert_eq!(case.children().filter(roxmltree::Node::is_element).count(), 2);
    }
}
