//! The command that walks a journey once, as findings advise it: with the variables and the URL that the load was given.

use ablaze_model::Run;
use ablaze_model::printable::printable;
use ablaze_model::spec::JourneySpec;

use crate::words::for_shell;

/// `ablaze run shop.hurl --variable base=http://h/ --very-verbose`; with such other options before the last. Values of
/// secrets are not known: their names stand with `…`. Of several journeys it is the one that failed most often.
pub(crate) fn command(run: &Run, options: &str) -> String {
    let asked = run.asked.as_ref();
    let journey = journey(run);
    let file = match journey {
        // Which of them it is does not show.
        None if is_of_several(run) => "FILE",
        None => run.plan.journey.as_ref().map_or("", |journey| &journey.name),
        Some(journey) if is_of_several(run) => &journey.file.name,
        Some(_) => run.plan.journey.as_ref().map_or("", |journey| &journey.name),
    };
    let mut words = format!("ablaze run {}", for_shell(&printable(file)));
    if let Some(journey) = journey {
        let open =
            journey.variables.iter().map(|(name, value)| ("variable", format!("{name}={value}")));
        let secret = journey.secrets.iter().map(|(name, _)| ("secret", format!("{name}=…")));
        if journey.location {
            words.push_str(" --location");
        }
        for (option, variable) in open.chain(secret) {
            words.push_str(&format!(" --{option} {}", for_shell(&printable(&variable))));
        }
    }
    words.push_str(options);
    words.push_str(" --very-verbose");
    if let Some(url) = asked.and_then(|asked| asked.destination.url.as_ref()) {
        words.push_str(&format!(" {}", for_shell(&printable(&url.shown))));
    }
    words
}

fn is_of_several(run: &Run) -> bool {
    run.record.journeys.as_ref().is_some_and(|journeys| journeys.each.len() > 1)
}

/// The journey as it was asked for; of several the one of which most failed, if any did.
fn journey(run: &Run) -> Option<&JourneySpec> {
    let requests = &run.asked.as_ref()?.requests;
    let mut all = requests.journey.iter().chain(&requests.users.more);
    if !is_of_several(run) {
        return all.next();
    }
    let each = run.record.journeys.as_ref()?.each.iter().enumerate();
    let (at, _) = each.filter(|(_, one)| one.failed > 0).max_by_key(|(_, one)| one.failed)?;
    all.nth(at)
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::{Journeys, OneJourney};
    use ablaze_model::spec::{Blob, UrlSpec};

    use super::*;
    use crate::live::sample;

    #[test]
    fn variables_and_the_url_are_those_of_the_load() {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        let asked = run.asked.as_mut().unwrap();
        let mut journey = JourneySpec::of(Blob::new("shop.hurl", Vec::new()));
        journey.variables = vec![("base".to_owned(), "http://h:8080".to_owned())];
        journey.location = true;
        asked.requests.journey = Some(journey);
        asked.destination.url = Some(UrlSpec::parse("http://h/").unwrap().0);
        let said = command(&run, " --http 2");
        let expected = "--location --variable base=http://h:8080 --http 2 --very-verbose http://h/";
        assert!(said.starts_with("ablaze run ") && said.ends_with(expected), "{said}");
    }

    /// Two files, of which the second fails.
    #[test]
    fn of_several_journeys_the_one_that_fails_is_to_be_walked() {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        let requests = &mut run.asked.as_mut().unwrap().requests;
        requests.journey = Some(JourneySpec::of(Blob::new("a.hurl", Vec::new())));
        requests.users.more = vec![JourneySpec::of(Blob::new("b.hurl", Vec::new()))];
        let mut journeys = Journeys::new(&["GET /a".to_owned(), "GET /b".to_owned()]);
        let one = |name: &str, failed| OneJourney {
            name: name.to_owned(),
            begun: 10,
            whole: 10 - failed,
            failed,
            duration: ablaze_stats::Latency::new(3),
        };
        journeys.each = vec![one("a", 0), one("b", 4)];
        run.record.journeys = Some(Box::new(journeys));
        assert!(command(&run, "").starts_with("ablaze run b.hurl "), "{}", command(&run, ""));
        // None failed: a status that nobody expects is of either.
        run.record.journeys.as_mut().unwrap().each[1] = one("b", 0);
        assert!(command(&run, "").starts_with("ablaze run FILE "), "{}", command(&run, ""));
    }
}
