//! All cells of an experiment, made before anything starts: the values of every axis are checked, each by the parser
//! that reads it anywhere else.

use ablaze_model::LoadSpec;
use ablaze_model::experiment::{Axis, AxisValue, Load, Place, Target};
use ablaze_model::spec::Secrets;

use super::place::{Placed, place};
use super::settings::Settings;
use super::wanted::Wanted;
use crate::experiments::loads::{Worded, number, with_length};
use crate::{CommandError, native};

/// More axes cannot be drawn.
const MOST_AXES: usize = 2;
/// More cells are no experiment that anybody waits for.
const MOST_CELLS: usize = 1_000;

/// What is there to vary, as it was written.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Options of the load, without those that are axes.
    pub load: Vec<String>,
    /// What targets, and the path that is asked for of them, were written as.
    pub texts: Vec<String>,
    /// What is asked for of targets that are started here.
    pub path: String,
    /// Whether a target is a built-in server.
    pub has_model: bool,
    /// Whether one is started by a command.
    pub has_command: bool,
}

impl Scene {
    /// Whether `{name}` was written anywhere.
    pub fn mentions(&self, name: &str) -> bool {
        let place = format!("{{{name}}}");
        self.texts.iter().chain(&self.load).chain([&self.path]).any(|text| text.contains(&place))
    }
}

/// What is measured: every load with the targets as they are under it.
#[derive(Debug)]
pub struct Varied {
    /// The targets as they are under the first load.
    pub targets: Vec<Target>,
    /// The loads; the first axis varies fastest.
    pub loads: Vec<Load>,
    /// What they differ in.
    pub axes: Vec<Axis>,
    /// What is asked for of targets that are started here, under the first load.
    pub path: String,
}

/// What is wrong, and with which of what was wanted.
#[derive(Debug)]
pub struct VaryError {
    /// Its place among these; `None` where it is none of theirs.
    pub at: Option<usize>,
    /// What is wrong.
    pub error: CommandError,
}

/// One axis, with where its values go.
struct Along<'a> {
    at: usize,
    wanted: &'a Wanted,
    placed: Placed,
    axis: Axis,
}

/// Reads all targets as they are with some settings, each under its name.
pub type ReadTargets<'a> =
    dyn FnMut(&Settings, &mut Secrets) -> Result<Vec<Target>, CommandError> + 'a;

/// What a cell is made of.
struct Cell {
    targets: Vec<Target>,
    load: Load,
    path: String,
}

/// Makes them. `enough` hears of the
/// first load and how many runs of each repeat there will be, before the rest is made.
///
/// # Errors
/// When a name goes nowhere, a value is not taken, or two values ask for the same.
pub fn cells(
    wanted: &[Wanted],
    scene: &Scene,
    secrets: &mut Secrets,
    targets: &mut ReadTargets<'_>,
    enough: &dyn Fn(&LoadSpec, usize) -> Result<(), CommandError>,
) -> Result<Varied, VaryError> {
    let along = placed(wanted, scene)?;
    let (axes, fixed): (Vec<&Along<'_>>, Vec<&Along<'_>>) = axes(&along)?;
    let lengths: Vec<usize> = axes.iter().map(|along| along.wanted.values.len()).collect();
    let count = lengths.iter().product::<usize>();
    if count > MOST_CELLS {
        let line = format!("{count} combinations of values are too many: use at most {MOST_CELLS}");
        return Err(VaryError { at: None, error: CommandError::usage(line) });
    }
    let mut made: Vec<Cell> = Vec::with_capacity(count);
    for number in 0..count {
        let mut rest = number;
        let mut values: Vec<(&Along<'_>, usize)> = fixed.iter().map(|along| (*along, 0)).collect();
        for (along, length) in axes.iter().zip(&lengths) {
            values.push((along, rest % length));
            rest /= length;
        }
        let made_now = cell(&values, &axes, scene, secrets, targets)?;
        if number == 0 {
            enough(&made_now.load.spec, count * made_now.targets.len())
                .map_err(|error| VaryError { at: None, error })?;
        }
        made.push(made_now);
    }
    alike(&made, &axes, &lengths)?;
    Ok(varied(made, axes.iter().map(|along| along.axis.clone()).collect()))
}

fn placed<'a>(wanted: &'a [Wanted], scene: &Scene) -> Result<Vec<Along<'a>>, VaryError> {
    let mut along: Vec<Along<'_>> = Vec::new();
    for (at, wanted) in wanted.iter().enumerate() {
        let wrong = |why: String| {
            let error = CommandError::usage(format!("{}: {why}", wanted.said));
            VaryError { at: Some(at), error }
        };
        let placed = place(&wanted.name, scene).map_err(wrong)?;
        if let Some(before) = along.iter().find(|before| before.placed == placed) {
            return Err(wrong(format!(
                "it is varied by {}, too: use one of them",
                before.wanted.said
            )));
        }
        let values = wanted
            .values
            .iter()
            .map(|value| AxisValue { text: shown(&placed, value), x: number(value) });
        let is_taken = along.iter().any(|before| before.axis.name == placed.name);
        let name = if is_taken { qualified(&placed) } else { placed.name.clone() };
        let axis = Axis { name, of: placed.of.clone(), values: values.collect() };
        along.push(Along { at, wanted, placed, axis });
    }
    Ok(along)
}

/// The name with whose it is: threads of the client beside threads of the server.
fn qualified(placed: &Placed) -> String {
    let whose = match placed.of.first() {
        Some(Place::Load) => "load:",
        Some(Place::Server) => "serve:",
        Some(Place::Environment) => "env:",
        _ => "",
    };
    format!("{whose}{}", placed.name)
}

/// A value stands in tables, and in the names of files.
fn shown(placed: &Placed, value: &str) -> String {
    match placed.of[..] {
        [Place::Load] => {
            let words = [format!("--{}", placed.name), value.to_owned()];
            native::shown(&words).0.pop().unwrap_or_default()
        }
        _ => value.to_owned(),
    }
}

/// Those with several values, and those with one: that is no axis, unless there is no other.
fn axes<'a, 'b>(
    along: &'a [Along<'b>],
) -> Result<(Vec<&'a Along<'b>>, Vec<&'a Along<'b>>), VaryError> {
    let (mut axes, mut fixed): (Vec<_>, Vec<_>) =
        along.iter().partition(|along| along.wanted.values.len() > 1);
    if axes.is_empty() && !fixed.is_empty() {
        axes.push(fixed.remove(0));
    }
    if let Some(extra) = axes.get(MOST_AXES) {
        let names: Vec<&str> = axes.iter().map(|along| along.wanted.said.as_str()).collect();
        let line = format!(
            "a sweep has at most two axes, but {} are lists: give a list to two of them",
            names.join(", ")
        );
        return Err(VaryError { at: Some(extra.at), error: CommandError::usage(line) });
    }
    Ok((axes, fixed))
}

/// One cell, in which each of these has this one of its values.
fn cell(
    values: &[(&Along<'_>, usize)],
    axes: &[&Along<'_>],
    scene: &Scene,
    secrets: &mut Secrets,
    targets: &mut ReadTargets<'_>,
) -> Result<Cell, VaryError> {
    let named = |(along, at): &(&Along<'_>, usize)| {
        format!("{}={}", along.wanted.said, along.axis.values[*at].text)
    };
    let all: Vec<String> = values.iter().map(named).collect();
    let wrong = |error: CommandError, name: &str, at: usize| VaryError {
        at: Some(at),
        error: CommandError { line: format!("{name}: {}", error.line), ..error },
    };
    let mut settings = Settings::default();
    for value in values {
        let (along, at) = value;
        settings
            .set(&along.placed, &along.wanted.values[*at])
            .map_err(|error| wrong(error, &named(value), along.at))?;
    }
    // What is wrong without any of the values, too, is not theirs.
    let of_all = |error: CommandError, without: Option<CommandError>| match values.last() {
        Some((along, _)) if without.as_ref() != Some(&error) => {
            wrong(error, &all.join(" "), along.at)
        }
        _ => VaryError { at: None, error },
    };
    let targets = match targets(&settings, secrets) {
        Ok(targets) => targets,
        Err(error) => {
            return Err(of_all(error, targets(&Settings::default(), secrets).err()));
        }
    };
    let labels = values.iter().filter(|(along, _)| axes.iter().any(|axis| axis.at == along.at));
    let labels: Vec<String> = labels.map(|(along, at)| along.axis.label(*at)).collect();
    let x = values.iter().find(|(along, _)| axes.first().is_some_and(|axis| axis.at == along.at));
    let worded = Worded {
        label: labels.join(", "),
        x: x.and_then(|(along, at)| along.axis.values[*at].x),
        options: with_length(settings.words(&scene.load)),
    };
    let load = match worded.read(secrets) {
        Ok(load) => load,
        Err(error) => {
            let without = Worded { label: String::new(), x: None, options: scene.load.clone() };
            return Err(of_all(error, without.read(secrets).err()));
        }
    };
    Ok(Cell { targets, load, path: settings.path(&scene.path) })
}

/// Two values of an axis that ask for the same are refused: their difference would be chance.
fn alike(cells: &[Cell], axes: &[&Along<'_>], lengths: &[usize]) -> Result<(), VaryError> {
    let mut step = 1;
    for (along, length) in axes.iter().zip(lengths) {
        for at in 1..*length {
            let same = |other: &usize| {
                let (one, other) = (&cells[at * step], &cells[other * step]);
                let loads = one.load.spec == other.load.spec && one.path == other.path;
                loads && one.targets == other.targets
            };
            if let Some(other) = (0..at).find(same) {
                let values = &along.axis.values;
                let (one, other) = (&values[other].text, &values[at].text);
                let line = format!(
                    "{}: `{one}` and `{other}` ask for the same: remove one",
                    along.wanted.said
                );
                return Err(VaryError { at: Some(along.at), error: CommandError::usage(line) });
            }
        }
        step *= length;
    }
    Ok(())
}

/// The cells as loads, which have targets of their own only where these differ.
fn varied(mut cells: Vec<Cell>, axes: Vec<Axis>) -> Varied {
    let (targets, path) =
        cells.first().map(|first| (first.targets.clone(), first.path.clone())).unwrap_or_default();
    let targets_differ = cells.iter().any(|cell| cell.targets != targets);
    let paths_differ = cells.iter().any(|cell| cell.path != path);
    let loads = cells.drain(..).map(|cell| Load {
        targets: if targets_differ { cell.targets } else { Vec::new() },
        path: paths_differ.then_some(cell.path),
        ..cell.load
    });
    Varied { loads: loads.collect(), targets, axes, path }
}
