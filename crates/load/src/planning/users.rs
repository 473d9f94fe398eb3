//! The users of a run: their journeys and their setup as one, with which steps belong together; and what is asked of users
//! and cannot be done.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use ablaze_journey::{Journey, Names, Needed};
use ablaze_model::plan::users::{Ramp, Users, Ways, WeightedJourney};
use ablaze_model::printable::printable;
use ablaze_model::spec::{JourneySpec, LoadSpec, Shape, UsersSpec};

use super::journey::{at, read_with};
use super::order;
use crate::Error;

/// All files as one journey: the steps of the first, of the others, of the setup.
pub struct Walked<'a> {
    /// The steps, and all variables.
    pub journey: Journey,
    /// Which of the steps belong together.
    pub ways: Ways,
    /// What each journey is called, where there are several.
    pub journeys: Vec<WeightedJourney>,
    parts: Vec<Part<'a>>,
}

/// The steps of one file.
struct Part<'a> {
    spec: &'a JourneySpec,
    steps: Range<usize>,
    needed: Vec<Needed>,
}

impl<'a> Walked<'a> {
    /// Compiles the files.
    ///
    /// # Errors
    /// When one of them cannot be walked, or their weights are all 0.
    pub fn read(first: &'a JourneySpec, users: &'a UsersSpec) -> Result<Self, Error> {
        // What the setup captures is there in all of the others.
        let setup = users.setup.as_ref();
        let compiled = |spec: &'a JourneySpec| read_with(spec, &Names::default(), &[]);
        let setup = setup.map(|spec| compiled(spec).map(|journey| (spec, journey))).transpose()?;
        let set = setup.as_ref().map_or_else(Vec::new, |(_, journey)| journey.set());
        let mut parts: Vec<Part<'_>> = Vec::new();
        let none = Names::default();
        let mut whole: Option<Journey> = None;
        for spec in std::iter::once(first).chain(&users.more) {
            let before = whole.as_ref().or(setup.as_ref().map(|(_, journey)| journey));
            let journey = read_with(spec, before.map_or(&none, Journey::names), &set)?;
            whole = Some(joined(whole, journey, spec, &mut parts));
        }
        let mut ways = Ways::default();
        if let Some((spec, mut journey)) = setup {
            // Its variables are among all of them, in the same places.
            if let Some(own) = &whole {
                journey.know(own);
            }
            whole = Some(joined(whole, journey, spec, &mut parts));
            ways.setup = parts.last().map(|part| part.steps.clone());
        }
        let mut walked =
            Self { journey: whole.unwrap_or_default(), ways, journeys: Vec::new(), parts };
        walked.tell_apart(first, users)?;
        Ok(walked)
    }

    /// Weights, and names of journeys and steps, where there are several.
    fn tell_apart(&mut self, first: &JourneySpec, users: &UsersSpec) -> Result<(), Error> {
        if users.more.is_empty() {
            return Ok(());
        }
        let files: Vec<&str> =
            std::iter::once(first).chain(&users.more).map(|spec| spec.file.name.as_str()).collect();
        let names = names_of(&files)?;
        let weight = |index: usize| users.weights.get(index).copied().unwrap_or(1);
        let weights: Vec<u64> = (0..files.len()).map(weight).collect();
        self.ways.order = order::spread(&weights)
            .map_err(|error| Error::usage(format!("--journey FILE=WEIGHT: {error}")))?;
        self.ways.journeys =
            self.parts.iter().take(files.len()).map(|part| part.steps.clone()).collect();
        let mut times: HashMap<String, usize> = HashMap::new();
        for step in &self.journey.steps[..self.ways.main_steps(self.journey.steps.len())] {
            *times.entry(step.name.clone()).or_default() += 1;
        }
        for (name, part) in names.iter().zip(&self.parts) {
            for step in &mut self.journey.steps[part.steps.clone()] {
                if times.get(&step.name).is_some_and(|times| *times > 1) {
                    step.name = format!("{name}.{}", step.name);
                }
            }
        }
        let named = names.into_iter().zip(weights);
        self.journeys = named.map(|(name, weight)| WeightedJourney { name, weight }).collect();
        Ok(())
    }

    /// The variables that must be given, each with its file.
    pub fn needed(&self) -> impl Iterator<Item = (&'a JourneySpec, &Needed)> {
        self.parts.iter().flat_map(|part| part.needed.iter().map(|needed| (part.spec, needed)))
    }

    /// Whether the setup uses one of these variables.
    pub fn setup_uses(&self, slots: &[usize]) -> bool {
        let setup = self.parts.last().filter(|_| self.ways.setup.is_some());
        setup.is_some_and(|part| part.needed.iter().any(|needed| slots.contains(&needed.slot)))
    }

    /// What is wrong in the line of a step.
    pub fn wrong(&self, step: usize, what: &str) -> Error {
        let part = self.parts.iter().find(|part| part.steps.contains(&step));
        match part {
            Some(part) => at(part.spec, self.journey.steps[step].line, what),
            None => Error::usage(what.to_owned()),
        }
    }

    /// Who walks them.
    ///
    /// # Errors
    /// When something that is asked of them cannot be done.
    pub fn users(&self, spec: &LoadSpec) -> Result<Users, Error> {
        let asked = &spec.requests.users;
        refuse(spec)?;
        let ramp = match (asked.ramp_from, spec.limits.duration_ns) {
            (None, _) => None,
            (Some(from), Some(over_ns)) => Some(Ramp { from, to: closed_users(spec), over_ns }),
            (Some(_), None) => {
                let text = "a growing number of users needs a length of the run: use -d, too";
                return Err(Error::usage(text.to_owned()));
            }
        };
        let rests = self.journey.steps.iter().any(|step| {
            step.options.delay_ns.is_some_and(|ns| ns > 0) || step.options.retry.is_some()
        });
        // Nobody thinks before the first step, nor behind the last.
        let main = &self.parts[..self.parts.len() - usize::from(self.ways.setup.is_some())];
        let thinks = asked.think_time.is_some() && main.iter().any(|part| part.steps.len() > 1);
        Ok(Users {
            ramp,
            think_time: asked.think_time,
            iterations: asked.iterations,
            keep_session: asked.keep_session,
            setup: asked.setup.as_ref().map(|setup| setup.file.name.clone()),
            journeys: self.journeys.clone(),
            pause: rests || thinks || ramp.is_some() || asked.iterations.is_some(),
        })
    }
}

/// The steps of a file behind those that there are.
fn joined<'a>(
    whole: Option<Journey>,
    journey: Journey,
    spec: &'a JourneySpec,
    parts: &mut Vec<Part<'a>>,
) -> Journey {
    let from = whole.as_ref().map_or(0, |whole| whole.steps.len());
    let needed = journey.needed().to_vec();
    parts.push(Part { spec, steps: from..from + journey.steps.len(), needed });
    match whole {
        None => journey,
        Some(mut whole) => {
            whole.append(journey);
            whole
        }
    }
}

/// What the journeys of files are called: the file without folder and ending, or the file as it was given where that is the
/// same for two of them.
fn names_of(files: &[&str]) -> Result<Vec<String>, Error> {
    let stem = |file: &str| {
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| file.to_owned())
    };
    let stems: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let mut names = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        if files[..index].contains(file) {
            let file = printable(file);
            return Err(Error::usage(format!(
                "--journey {file} is given twice: give it once, with the sum of the weights"
            )));
        }
        let is_one = stems.iter().filter(|stem| **stem == stems[index]).count() == 1;
        names.push(if is_one { stems[index].clone() } else { (*file).to_owned() });
    }
    Ok(names)
}

/// Users on each connection: as many as it may have streams.
pub fn users_per_connection(spec: &LoadSpec) -> u32 {
    if spec.has_streams() { spec.in_flight.max(1) } else { 1 }
}

/// How many users a closed loop has.
fn closed_users(spec: &LoadSpec) -> u32 {
    spec.closed_connections().saturating_mul(users_per_connection(spec))
}

/// What cannot be asked of the users of an open loop.
fn refuse(spec: &LoadSpec) -> Result<(), Error> {
    let asked = &spec.requests.users;
    if asked.ramp_from.is_some_and(|from| from > closed_users(spec)) {
        let text = "--users A..B is a growing number: the first must be the smaller one";
        return Err(Error::usage(text.to_owned()));
    }
    if asked.iterations == Some(0) {
        let text = "--iterations 0 measures nothing: use 1 or more";
        return Err(Error::usage(text.to_owned()));
    }
    let Shape::Open { connections, .. } = spec.shape else { return Ok(()) };
    let text = if asked.ramp_from.is_some() {
        "--users A..B and --rate cannot be used together: for journeys that become more use --rate 10/s..100/s"
    } else if asked.iterations.is_some() {
        "--iterations and --rate cannot be used together: for a number of journeys use -n"
    } else if asked.setup.is_some() && connections.is_none() {
        "--setup and --rate need a number of users who walk it: use --users N, too"
    } else {
        return Ok(());
    };
    Err(Error::usage(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::users::ThinkTime;
    use ablaze_model::spec::Blob;

    use super::*;

    /// One step has no other to think before: its users always have something in flight.
    #[test]
    fn users_of_one_step_do_not_pause_to_think() {
        let pause = |text: &str| {
            let journey = JourneySpec::of(Blob::new("a.hurl", text.into()));
            let mut spec = LoadSpec::default();
            spec.requests.users.think_time = Some(ThinkTime::Constant { ns: 1 });
            let walked = Walked::read(&journey, &spec.requests.users).unwrap();
            walked.users(&spec).unwrap().pause
        };
        assert!(!pause("GET http://h/a\n"));
        assert!(pause("GET http://h/a\n\nGET http://h/b\n"));
    }
}
