//! The command that walks a journey once, as findings advise it: with the variables and the URL that the load was given.

use std::ops::Range;

use ablaze_model::Run;
use ablaze_model::plan::journey::{FormPart, Route, StepBody, Template};
use ablaze_model::printable::printable;
use ablaze_model::spec::JourneySpec;

use crate::words::for_shell;

/// `ablaze run shop.hurl --variable base=http://h/ --very-verbose`; with such other options before the last. Values of
/// secrets are not known: their names stand with `…`. Of several journeys it is the one that failed most often.
pub(crate) fn command(run: &Run, options: &str) -> String {
    let own = || run.plan.journey.as_ref().map_or("", |journey| &journey.name);
    if !is_of_several(run) {
        return walked(
            run,
            own(),
            &Own { url: true, feed: !has_setup(run) || uses_feed(run, main(run)) },
            options,
        );
    }
    // Which of them it is may not show.
    let Some(at) = worst(run) else { return walked(run, "FILE", &Own::of(run, None), options) };
    let file = journeys(run).nth(at).map_or("FILE", |journey| &journey.file.name);
    let steps = route(run).and_then(|route| route.ways.journeys.get(at).cloned());
    walked(run, file, &Own::of(run, steps), options)
}

/// The same of what every user walks before the clock starts.
pub(crate) fn command_of_setup(run: &Run) -> String {
    let users = run.plan.journey.as_ref().map(|journey| &journey.users);
    let file = users.and_then(|users| users.setup.as_deref()).unwrap_or("FILE");
    let steps = route(run).and_then(|route| route.ways.setup.clone());
    walked(run, file, &Own::of(run, steps), "")
}

/// The variables and the other options are given once, for all files.
fn walked(run: &Run, file: &str, own: &Own, options: &str) -> String {
    let asked = run.asked.as_ref();
    let mut words = format!("ablaze run {}", for_shell(&printable(file)));
    if let Some(given) = asked.and_then(|asked| asked.requests.journey.as_ref()) {
        let flags = [
            ("continue-on-error", given.continue_on_error),
            ("location", given.location),
            ("location-trusted", given.location_trusted),
        ];
        for (flag, _) in flags.iter().filter(|(_, is_given)| *is_given) {
            words.push_str(&format!(" --{flag}"));
        }
        if let Some(most) = given.max_redirects {
            words.push_str(&format!(" --max-redirs {most}"));
        }
        let open =
            given.variables.iter().map(|(name, value)| ("variable", format!("{name}={value}")));
        let secret = given.secrets.iter().map(|(name, _)| ("secret", format!("{name}=…")));
        for (option, variable) in open.chain(secret) {
            words.push_str(&format!(" --{option} {}", for_shell(&printable(&variable))));
        }
    }
    let data = asked.and_then(|asked| asked.requests.data.as_ref()).filter(|_| own.feed);
    if let Some(data) = data {
        words.push_str(&format!(" --feed {}", for_shell(&printable(&data.feed.file.name))));
    }
    words.push_str(options);
    words.push_str(" --very-verbose");
    let url = asked.and_then(|asked| asked.destination.url.as_ref()).filter(|_| own.url);
    if let Some(url) = url {
        words.push_str(&format!(" {}", for_shell(&printable(&url.shown))));
    }
    words
}

/// What one of several files is given beside the variables.
struct Own {
    url: bool,
    feed: bool,
}

impl Own {
    fn of(run: &Run, steps: Option<Range<usize>>) -> Self {
        Self { url: needs_url(run, steps.clone()), feed: uses_feed(run, steps) }
    }
}

fn has_setup(run: &Run) -> bool {
    run.plan.journey.as_ref().is_some_and(|journey| journey.users.setup.is_some())
}

/// The steps that are not the setup's.
fn main(run: &Run) -> Option<Range<usize>> {
    let route = route(run)?;
    let end = route.ways.setup.as_ref().map_or(route.journey.steps.len(), |setup| setup.start);
    Some(0..end)
}

/// Whether a request of these steps is known to send a column of the feed: a file that uses none is not walked with it.
fn uses_feed(run: &Run, steps: Option<Range<usize>>) -> bool {
    let (Some(route), Some(range)) = (route(run), steps) else { return false };
    let used =
        |template: &Template| template.slots().any(|(slot, _)| route.columns.contains(&slot));
    let in_body = |body: &StepBody| match body {
        StepBody::None => false,
        StepBody::Template(text) | StepBody::File(text) => used(text),
        StepBody::Multipart(parts) => parts.iter().any(|part| match part {
            FormPart::Field(name, value) => used(name) || used(value),
            FormPart::File(name, file, _) => used(name) || used(file),
        }),
    };
    let steps = route.journey.steps.get(range).unwrap_or_default();
    steps.iter().any(|step| {
        let fields = step.headers.iter().any(|(name, value)| used(name) || used(value));
        let own = [&step.url, &step.query, &step.cookies].into_iter().chain(&step.basic_auth);
        fields || own.into_iter().any(used) || in_body(&step.body)
    })
}

fn route(run: &Run) -> Option<&Route> {
    run.plan.journey.as_ref()?.route.as_deref()
}

/// Whether one file of several wants the URL of the load: if its steps are paths. If they name their host themselves, that URL
/// may be another file's. Of a saved run the steps are not known.
fn needs_url(run: &Run, steps: Option<Range<usize>>) -> bool {
    let known = steps.zip(route(run)).and_then(|(range, route)| route.journey.steps.get(range));
    match known {
        Some(steps) => steps.iter().any(|step| step.url.begins_with(b"/")),
        None => run.plan.target.others.is_empty(),
    }
}

fn is_of_several(run: &Run) -> bool {
    run.record.journeys.as_ref().is_some_and(|journeys| journeys.each.len() > 1)
}

/// The journeys as they were asked for.
fn journeys(run: &Run) -> impl Iterator<Item = &JourneySpec> {
    let requests = run.asked.as_ref().map(|asked| &asked.requests);
    requests.into_iter().flat_map(|asked| asked.journey.iter().chain(&asked.users.more))
}

/// Which of several failed most often, if any did.
fn worst(run: &Run) -> Option<usize> {
    let each = run.record.journeys.as_ref()?.each.iter().enumerate();
    let (at, _) = each.filter(|(_, one)| one.failed > 0).max_by_key(|(_, one)| one.failed)?;
    Some(at)
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::{Journeys, OneJourney};
    use ablaze_model::spec::{Blob, DataSpec, Feed, UrlSpec};

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
        let feed = Feed::of(Blob::new("users.csv", Vec::new()));
        asked.requests.data = Some(DataSpec { feed, order: ablaze_model::feed::Order::Sequential });
        asked.destination.url = Some(UrlSpec::parse("http://h/").unwrap().0);
        let said = command(&run, " --http 2");
        let expected = "--location --variable base=http://h:8080 --feed users.csv --http 2 --very-verbose http://h/";
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
        // What is given is given once, for all of them.
        let requests = &mut run.asked.as_mut().unwrap().requests;
        requests.journey.as_mut().unwrap().variables = vec![("n".to_owned(), "1".to_owned())];
        let feed = Feed::of(Blob::new("users.csv", Vec::new()));
        requests.data = Some(DataSpec { feed, order: ablaze_model::feed::Order::Sequential });
        // No request of it is known to send a column.
        let given = "ablaze run b.hurl --variable n=1 --very-verbose";
        assert!(command(&run, "").starts_with(given), "{}", command(&run, ""));
        // None failed: a status that nobody expects is of either.
        run.record.journeys.as_mut().unwrap().each[1] = one("b", 0);
        assert!(command(&run, "").starts_with("ablaze run FILE "), "{}", command(&run, ""));
        assert!(command(&run, "").contains(" --variable n=1 "), "{}", command(&run, ""));
    }

    /// Of a saved run it is not known where the steps of one file go, and the URL may be that of another.
    #[test]
    fn a_url_that_may_be_another_file_s_is_left_out() {
        let mut run = crate::live::setup::sample::with_failed(90);
        sample::asked(&mut run, &[]);
        let asked = run.asked.as_mut().unwrap();
        asked.destination.url = Some(UrlSpec::parse("http://shop/").unwrap().0);
        asked.requests.journey = Some(JourneySpec::of(Blob::new("a.hurl", Vec::new())));
        let said = "ablaze run login.hurl --very-verbose http://shop/";
        assert_eq!(command_of_setup(&run), said);
        run.plan.target.others = vec![ablaze_model::plan::origins::Origin {
            url: "http://login".to_owned(),
            host: "login".to_owned(),
            port: 80,
            addresses: Vec::new(),
            tls: None,
        }];
        assert_eq!(command_of_setup(&run), "ablaze run login.hurl --very-verbose");
    }
}
