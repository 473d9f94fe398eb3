//! The paragraphs of docs/diagnoses.md, for pages that open without a network.

use ablaze_model::finding::DiagnosisId;

use super::Explained;

/// A link to docs/diagnoses.md: a package has the file itself.
const DIAGNOSES: &str = include_str!("../../documents/diagnoses.md");

/// What docs/diagnoses.md says about a diagnosis.
pub(super) fn of(id: DiagnosisId) -> Explained {
    let heading = format!("{id} {}", id.name());
    let begins = format!("\n## {heading}\n");
    let text = DIAGNOSES.split_once(&begins).map_or("", |(_, text)| text);
    let text = text.split("\n## ").next().unwrap_or_default();
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| plain(paragraph.trim()))
        .filter(|paragraph| !paragraph.is_empty());
    Explained { anchor: id.anchor(), heading, paragraphs: paragraphs.collect() }
}

/// A paragraph in one line; of a link its text remains, bold type goes.
fn plain(paragraph: &str) -> String {
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ").replace("**", "");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let link = after.split_once("](").and_then(|(text, after)| {
            let (_, after) = after.split_once(')')?;
            (!text.contains(['[', ']'])).then_some((text, after))
        });
        match link {
            Some((text, after)) => {
                out.push_str(text);
                rest = after;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{DiagnosisId, of, plain};

    #[test]
    fn every_diagnosis_has_its_paragraph() {
        for &id in DiagnosisId::ALL {
            let explained = of(id);
            assert!(explained.paragraphs.iter().any(|text| text.len() > 60), "{id}");
            assert!(explained.paragraphs.iter().all(|text| !text.contains("](")));
        }
    }

    #[test]
    fn links_leave_their_text() {
        assert_eq!(plain("see [the page](a.md#b) of\n**x**[1]"), "see the page of x[1]");
    }
}
