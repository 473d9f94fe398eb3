//! Where the CPU time of the targets of a comparison goes, from a profiled run of each: flame graphs of each target, and
//! of what the last has less or more of than the others.

use ablaze_model::Run;
use ablaze_model::experiment::{Experiment, file_name};
use ablaze_model::profiling::{Profile, Whom};
use ablaze_profile::difference::difference;
use ablaze_profile::folded::PerRequest;
use ablaze_profile::hottest::{Changed, most_changed};

use crate::number::{counted, time};
use crate::page::profile as drawn;
use crate::page::{Block, Section, TableBlock};
use crate::profiling;

/// The number of functions in the table of a difference.
const MOST: usize = 15;
/// Samples are counted: by so many standard deviations of two Poisson counts a difference is more than chance.
const BY_CHANCE: f64 = 3.0;

/// The part of the page; `None` when nothing was profiled.
pub fn section(experiment: &Experiment, runs: &[(usize, Run)]) -> Option<Section> {
    if runs.is_empty() {
        return None;
    }
    let name = |target: usize| experiment.targets[target].name.as_str();
    let mut section = Section::new("Where the CPU time went");
    for (target, run) in runs {
        for profile in of_target(run) {
            section.blocks.extend(drawn::blocks(profile, name(*target)));
        }
        for line in what_else(run) {
            section = section.with(Block::Text(format!("{}: {line}", name(*target))));
        }
    }
    for (one, other) in pairs(experiment, runs) {
        section.blocks.extend(difference_of(&one, &other));
    }
    Some(section)
}

/// The graphs as files that can be zoomed and searched: a name and the SVG.
pub fn files(experiment: &Experiment, runs: &[(usize, Run)]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (target, run) in runs {
        let name = experiment.targets[*target].name.as_str();
        for profile in of_target(run) {
            let drawing = drawn::drawing(profile, name);
            files.extend(
                drawing.map(|drawing| (format!("flame-{}.svg", file_name(name)), drawing.file)),
            );
        }
    }
    for (one, other) in pairs(experiment, runs) {
        for (of, against) in [(&one, &other), (&other, &one)] {
            let drawing = drawing_of(of, against);
            let name =
                format!("flame-{}-against-{}.svg", file_name(of.name), file_name(against.name));
            files.extend(drawing.map(|drawing| (name, drawing.file)));
        }
    }
    files
}

/// A line or some per target, for the terminal.
pub fn words(experiment: &Experiment, runs: &[(usize, Run)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (target, run) in runs {
        let name = &experiment.targets[*target].name;
        lines.extend(
            of_target(run).map(|profile| format!("  {name}: {}", profiling::headline(profile))),
        );
        lines.extend(what_else(run).into_iter().map(|line| format!("    {line}")));
    }
    for (one, other) in pairs(experiment, runs) {
        let changes = changes(&one, &other, 5);
        let by_chance = beyond_chance(&one, &other);
        lines.push(match changes.is_empty() {
            true => format!(
                "  CPU time per request in {} and {}: no function differs {by_chance}",
                one.name, other.name
            ),
            false => format!(
                "  largest differences, CPU time per request in {} and {} {by_chance}:",
                one.name, other.name
            ),
        });
        for changed in changes {
            lines.push(format!(
                "    {}: {} and {}",
                profiling::readable(&changed.name),
                time(changed.after_ns),
                time(changed.before_ns)
            ));
        }
    }
    lines
}

/// The profiles of the server in a run.
fn of_target(run: &Run) -> impl Iterator<Item = &Profile> {
    let profiles = run.profiling.iter().flat_map(|came_to| &came_to.profiles);
    profiles.filter(|profile| profile.of == Whom::Target)
}

/// Why there is no profile, or what it cost.
fn what_else(run: &Run) -> Vec<String> {
    let Some(came_to) = &run.profiling else { return Vec::new() };
    let refused = came_to.refused.iter().map(profiling::refused);
    let cost = came_to
        .run
        .iter()
        .map(|profiled| format!("profiling cost: {}", profiling::cost(run, profiled)));
    refused.chain(cost).collect()
}

/// One target's profile under its name.
struct OfTarget<'a> {
    name: &'a str,
    per_request: PerRequest,
    /// What it was made of.
    samples: u64,
}

impl OfTarget<'_> {
    /// What one sample stands for, ns per request.
    fn sample_ns(&self) -> f64 {
        self.per_request.total_ns() / self.samples.max(1) as f64
    }
}

/// The functions that differ most, of those that differ by more than chance.
fn changes(one: &OfTarget<'_>, other: &OfTarget<'_>, most: usize) -> Vec<Changed> {
    let of = |value_ns: f64, target: &OfTarget<'_>| {
        value_ns.max(target.sample_ns()) * target.sample_ns()
    };
    let is_more = |changed: &Changed| {
        let variance = of(changed.after_ns, one) + of(changed.before_ns, other);
        (changed.after_ns - changed.before_ns).abs() > BY_CHANCE * variance.sqrt()
    };
    let mut changes = most_changed(&other.per_request, &one.per_request, usize::MAX);
    changes.retain(is_more);
    changes.truncate(most);
    changes
}

/// What the differences are held against.
fn beyond_chance(one: &OfTarget<'_>, other: &OfTarget<'_>) -> String {
    let (first, second) = (counted(one.samples, "sample"), counted(other.samples, "sample"));
    format!("by more than chance explains in {first} and {second}")
}

/// Each target against the control, as tables of a comparison have it.
fn pairs<'a>(
    experiment: &'a Experiment,
    runs: &[(usize, Run)],
) -> Vec<(OfTarget<'a>, OfTarget<'a>)> {
    let found = |target: usize| {
        let (_, run) = runs.iter().find(|(of, _)| *of == target)?;
        let profile = of_target(run).next()?;
        let per_request = PerRequest::of(profile);
        let name = &experiment.targets[target].name;
        Some(OfTarget { name, per_request, samples: profile.samples })
    };
    let control = experiment.control();
    (0..experiment.targets.len())
        .filter(|target| *target != control)
        .filter_map(|target| Some((found(target)?, found(control)?)))
        .collect()
}

fn drawing_of(of: &OfTarget<'_>, against: &OfTarget<'_>) -> Option<ablaze_profile::graph::Drawing> {
    let title = format!("{} against {}: CPU time per request", of.name, against.name);
    let subtitle = format!("red: more than in {}; blue: less", against.name);
    difference(&title, &subtitle, &against.per_request, &of.per_request)
}

fn difference_of(one: &OfTarget<'_>, other: &OfTarget<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (of, against) in [(one, other), (other, one)] {
        if let Some(drawing) = drawing_of(of, against) {
            let caption = format!(
                "Widths are those of {}. A function is red if it takes more CPU time per request \
                 by itself than the same function with the same callers in {}, and blue if it \
                 takes less. What only {} has is in the other graph.",
                of.name, against.name, against.name
            );
            let name = format!("Flame graph of {} against {}", of.name, against.name);
            blocks.push(Block::Drawing { name, svg: drawing.element, caption });
        }
    }
    let by_chance = beyond_chance(one, other);
    let changes = changes(one, other, MOST);
    if changes.is_empty() {
        blocks.push(Block::Remark(format!("No function differs {by_chance}.")));
        return blocks;
    }
    let rows = changes.into_iter().map(|changed| {
        let sign = if changed.after_ns < changed.before_ns { '−' } else { '+' };
        vec![
            profiling::readable(&changed.name),
            time(changed.after_ns),
            time(changed.before_ns),
            format!("{sign}{}", time((changed.after_ns - changed.before_ns).abs())),
        ]
    });
    let mut table = Block::table(&["function", one.name, other.name, "difference"], rows.collect());
    if let Block::Table(TableBlock { caption, sorted_by, .. }) = &mut table {
        *sorted_by = Some(3);
        *caption = format!(
            "CPU time per request of functions by themselves, whatever their callers: the largest differences, of those that differ \
             {by_chance}."
        );
    }
    blocks.push(table);
    blocks
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
