//! What a run's TLS was, in words: for every report that is read by people.

use ablaze_model::Run;
use ablaze_model::plan::tls::Trust;
pub use ablaze_model::plan::tls_names::{group_name, suite_name};
use ablaze_model::record::Agreed;

use crate::number::grouped;

/// What was agreed on, how the server was verified, and how many handshakes it took; `None` for
/// plain connections.
pub fn in_words(run: &Run) -> Option<Vec<String>> {
    let (asked, facts) = (run.plan.tls.as_ref()?, run.record.tls.as_ref()?);
    let mut items: Vec<String> = facts
        .agreed
        .iter()
        .map(|(agreed, times)| {
            let mut text = agreement(agreed);
            if facts.agreed.len() > 1 {
                text.push_str(&format!(" ({}×)", grouped(*times)));
            }
            text
        })
        .collect();
    // Without a handshake no certificate was accepted, whatever was asked for.
    if items.is_empty() {
        return Some(vec!["no handshake completed".to_owned()]);
    }
    items.push(match &asked.trust {
        Trust::System => "certificate verified".to_owned(),
        Trust::Issuers(_) => "certificate verified by --cacert".to_owned(),
        Trust::Anyone => "certificate NOT verified".to_owned(),
    });
    let mut handshakes = format!("handshakes: {} full", grouped(facts.handshakes_full));
    if facts.handshakes_retried > 0 {
        handshakes.push_str(&format!(
            " ({} with an extra round trip, for another group)",
            grouped(facts.handshakes_retried)
        ));
    }
    if asked.resume {
        handshakes.push_str(&format!(", {} resumed", grouped(facts.handshakes_resumed)));
    }
    items.push(handshakes);
    Some(items)
}

fn agreement(agreed: &Agreed) -> String {
    let mut text = format!("{} {}", agreed.version.name(), suite_name(agreed.suite));
    if let Some(number) = agreed.group {
        text.push(' ');
        text.push_str(&group_name(number));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn without_a_handshake_nothing_is_said_of_the_certificate() {
        let mut run = sample::encrypted();
        let words = in_words(&run).unwrap();
        assert!(words.iter().any(|item| item.contains("certificate")), "{words:?}");
        run.record.tls.as_mut().unwrap().agreed.clear();
        assert_eq!(in_words(&run).unwrap(), ["no handshake completed"]);
    }
}
