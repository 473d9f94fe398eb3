//! The command that walks a journey once, as findings advise it: with the variables, the URL and whatever else the load was
//! given that its requests depend on.

mod options;

use std::ops::Range;

use ablaze_model::Run;
use ablaze_model::plan::journey::{FormPart, Route, StepBody, Template};
use ablaze_model::printable::printable;
use ablaze_model::record::FirstMessage;
use ablaze_model::spec::JourneySpec;

use crate::words::for_shell;

/// `ablaze run shop.hurl --variable base=http://h/ -k --very-verbose`. Values of secrets are not known: their names stand with
/// `…`. Of several journeys it is the one that failed most often, with the row of the first that failed in its worst step. `options` stand before the last.
pub(crate) fn command(run: &Run, options: &str) -> String {
    command_of(run, options, |_| true)
}

/// The same, to see a response: a row with which none came shows nothing of those that did.
pub(crate) fn command_with_response(run: &Run, options: &str) -> String {
    command_of(run, options, |first| !is_without_response(first))
}

/// Whether a journey failed because no response came: `line 2: no response: malformed`.
pub(crate) fn is_without_response(first: &FirstMessage) -> bool {
    first.text.split_once(": ").is_some_and(|(_, what)| what.starts_with("no response"))
}

fn command_of(run: &Run, options: &str, shows: fn(&FirstMessage) -> bool) -> String {
    let setup = users_setup(run);
    let with_setup =
        |steps| [Some(steps), setup.map(|_| steps_of_setup(run))].into_iter().flatten();
    if !is_of_several(run) {
        let file = run.plan.journey.as_ref().map_or("", |journey| &journey.name);
        // With the setup all files are walked, one of which uses the feed.
        let own = Own { url: true, feed: true, line: feed_line(run, None, shows) };
        return walked(run, file, setup, &own, options);
    }
    // Which of them it is may not show.
    let Some(at) = worst(run) else {
        return walked(run, "FILE", setup, &Own::of(run, with_setup(None), None), options);
    };
    let file = journeys(run).nth(at).map_or("FILE", |journey| &journey.file.name);
    let steps = route(run).and_then(|route| route.ways.journeys.get(at).cloned());
    let line = steps.clone().and_then(|steps| feed_line(run, Some(steps), shows));
    walked(run, file, setup, &Own::of(run, with_setup(steps), line), options)
}

/// The same of what every user walks before the clock starts.
pub(crate) fn command_of_setup(run: &Run) -> String {
    let file = users_setup(run).unwrap_or("FILE");
    let setup = run.record.journeys.as_ref().and_then(|journeys| journeys.setup.as_ref());
    let line = setup.and_then(|setup| setup.first.as_ref()?.feed_line);
    walked(run, file, None, &Own::of(run, [steps_of_setup(run)].into_iter(), line), "")
}

/// The file of the setup.
fn users_setup(run: &Run) -> Option<&str> {
    run.plan.journey.as_ref()?.users.setup.as_deref()
}

fn steps_of_setup(run: &Run) -> Option<Range<usize>> {
    route(run)?.ways.setup.clone()
}

/// The line of the row with which a journey failed: the first in the step in which most did, of those that show what is told.
fn feed_line(
    run: &Run,
    steps: Option<Range<usize>>,
    shows: fn(&FirstMessage) -> bool,
) -> Option<u32> {
    let all = &run.record.journeys.as_ref()?.steps;
    let own = match steps {
        Some(range) => all.get(range)?,
        None => all,
    };
    let failed = own.iter().filter(|step| step.failed > 0);
    let shown = failed.filter_map(|step| Some((step.failed, step.first.as_ref()?)));
    let (_, first) = shown.filter(|(_, first)| shows(first)).max_by_key(|(failed, _)| *failed)?;
    first.feed_line
}

/// The variables and the other options are given once, for all files.
fn walked(run: &Run, file: &str, setup: Option<&str>, own: &Own, options: &str) -> String {
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
    if let Some(setup) = setup {
        words.push_str(&format!(" --setup {}", for_shell(&printable(setup))));
    }
    let data = asked.and_then(|asked| asked.requests.data.as_ref()).filter(|_| own.feed);
    if let Some(data) = data {
        words.push_str(&format!(" --feed {}", for_shell(&printable(&data.feed.file.name))));
        words.extend(own.line.map(|line| format!(" --feed-line {line}")));
    }
    words.extend(options::words(run).iter().map(|word| format!(" {word}")));
    words.push_str(options);
    words.push_str(" --very-verbose");
    let url = asked.and_then(|asked| asked.destination.url.as_ref()).filter(|_| own.url);
    if let Some(url) = url {
        words.push_str(&format!(" {}", for_shell(&printable(&url.shown))));
    }
    words
}

/// What the files that are walked are given beside the variables.
struct Own {
    url: bool,
    feed: bool,
    line: Option<u32>,
}

impl Own {
    /// Of files with these steps, where they are known.
    fn of(
        run: &Run,
        files: impl Iterator<Item = Option<Range<usize>>> + Clone,
        line: Option<u32>,
    ) -> Self {
        Self {
            url: files.clone().any(|steps| needs_url(run, steps)),
            feed: files.clone().any(|steps| uses_feed(run, steps)),
            line,
        }
    }
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
mod tests;
