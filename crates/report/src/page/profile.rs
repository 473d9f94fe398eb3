//! Where the CPU time went, as flame graphs with the hottest functions below each.

use ablaze_model::Run;
use ablaze_model::profiling::Profile;
use ablaze_profile::folded::PerRequest;
use ablaze_profile::graph::{self, Drawing};

use super::{Block, Section, TableBlock};
use crate::profiling;

/// So many functions by their own time stand in a table, and so many by that with what they call.
const MOST: usize = 15;

const HOW_TO_READ: &str = "Each rectangle is a function, drawn on top of the one that called it; \
                           its width is the CPU time per request spent in it and in everything it \
                           called; from left to right they are sorted by name. Orange is the \
                           kernel.";
const HOW_TO_POINT: &str = "Point at a rectangle for its figures.";

/// The section of a Run; `None` when no profile was asked for.
pub fn of_run(run: &Run) -> Option<Section> {
    let came_to = run.profiling.as_ref()?;
    let mut section = Section::new("Where the CPU time went");
    for profile in &came_to.profiles {
        section.blocks.extend(blocks(profile, profiling::side(profile.of)));
    }
    for refused in &came_to.refused {
        let side = profiling::side(refused.of);
        let text = format!("The {side} was {}.", profiling::refused(refused));
        section = section.with(Block::Text(text));
    }
    if let Some(profiled) = &came_to.run {
        let text = format!("Profiling cost: {}", profiling::cost(run, profiled));
        section = section.with(Block::Text(text));
    }
    Some(section)
}

/// A profile as a graph, a table and what to keep in mind; `name` is whose it is.
pub fn blocks(profile: &Profile, name: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!("The {name}: {}.", profiling::headline(profile)))];
    if let Some(drawing) = drawing(profile, name) {
        blocks.push(Block::Drawing {
            name: format!("Flame graph of the {name}"),
            svg: drawing.element,
            caption: HOW_TO_READ.to_owned(),
        });
        blocks.push(Block::OfTheFile(HOW_TO_POINT.to_owned()));
    }
    // Without a sample there is none.
    let (head, rows) = profiling::table(profile, MOST, MOST);
    if !rows.is_empty() {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = Block::table(&head, rows);
        if let Block::Table(TableBlock { caption, sorted_by, .. }) = &mut table {
            *caption =
                "CPU time per request of the functions that used the most themselves, and of \
                        those that used the most with what they call."
                    .to_owned();
            *sorted_by = Some(profiling::BY_ITSELF);
        }
        blocks.push(table);
    }
    blocks.extend(profiling::doubts(profile).into_iter().map(Block::Remark));
    blocks
}

/// The flame graph of a profile; `None` when it has no sample.
pub fn drawing(profile: &Profile, name: &str) -> Option<Drawing> {
    let title = format!("{name}: CPU time per request");
    graph::flame(&title, &profiling::headline(profile), &PerRequest::of(profile))
}

/// The flame graphs of a Run as files: what they are of, and the SVG.
pub fn files(run: &Run) -> Vec<(&'static str, String)> {
    let profiles = run.profiling.iter().flat_map(|came_to| &came_to.profiles);
    profiles
        .filter_map(|profile| {
            Some((profile.of.key(), drawing(profile, profiling::side(profile.of))?.file))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_profiled_run_has_its_graph_its_table_and_its_error_on_the_page() {
        let run = sample::troubled();
        let html = super::super::of_run(&sample::assessed(&run)).html();
        for part in [
            "Where the CPU time went",
            "9,500 samples of cpu-clock at 999 Hz represent 500\u{a0}µs of CPU per request (nginx, pid 4711)",
            "<title>tcp_sendmsg (400 µs per request, 80.00%)</title>",
            "tcp_sendmsg (kernel)",
            "kernel.perf_event_paranoid is 4",
            "1,900/s instead of",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert_eq!(files(&run).iter().map(|(of, _)| *of).collect::<Vec<_>>(), ["target"]);
        assert!(of_run(&sample::ordinary()).is_none());
    }
}
