//! The command that walks a journey once, as findings advise it: with the variables and the URL that the load was given.

use ablaze_model::Run;
use ablaze_model::printable::printable;

use crate::words::for_shell;

/// `ablaze run shop.hurl --variable base=http://h/ --very-verbose`; with such other options before the last. Values of
/// secrets are not known: their names stand with `…`.
pub(crate) fn command(run: &Run, options: &str) -> String {
    let file = run.plan.journey.as_ref().map_or("", |journey| &journey.name);
    let mut words = format!("ablaze run {}", for_shell(&printable(file)));
    let asked = run.asked.as_ref();
    let journey = asked.and_then(|asked| asked.requests.journey.as_ref());
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

#[cfg(test)]
mod tests {
    use ablaze_model::spec::{Blob, JourneySpec, UrlSpec};

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
}
