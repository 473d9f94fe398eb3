//! Holds the figures of one report against each other: most of them follow from others, within what
//! rounding leaves open. Each rule is a necessary condition on every report that its tool can print,
//! so that a contradiction is a wrong figure. D43 says which.

mod bombardier;
pub(crate) mod counts;
pub(crate) mod figure;
mod h2load;
mod histogram;
mod native;
mod peers;
mod rates;
mod siege;
mod spread;
mod times;
pub(crate) mod wrk;

use crate::printed::{Report, Tool};
use figure::Figure;

/// Figures that cannot all be right.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// Those that it is about.
    pub figures: Vec<Figure>,
    /// It, as a sentence.
    pub said: String,
}

impl Contradiction {
    fn new(figures: impl Into<Vec<Figure>>, said: String) -> Self {
        Self { figures: figures.into(), said }
    }

    /// So does what is said of parts of the run, or of each client once.
    pub fn is_aside(&self) -> bool {
        self.figures.iter().any(|figure| spread::is_aside(*figure))
    }

    /// A wrong number of bytes leaves the rate and the times what they are.
    pub fn is_of_bytes(&self) -> bool {
        self.figures.iter().any(|figure| figure.is_of_bytes())
    }
}

/// Every contradiction among the figures of a report.
pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = rates::contradictions(report);
    found.extend(counts::contradictions(report));
    found.extend(times::contradictions(report));
    found.extend(peers::contradictions(report));
    // hey and oha print no other number of requests than those by status.
    let is_sum = matches!(report.tool, Tool::Hey | Tool::Oha) && report.failed == Some(0);
    if is_sum && found.iter().any(|one| one.figures.contains(&Figure::Statuses)) {
        for one in &mut found {
            let counts = one.figures.iter_mut().filter(|figure| **figure == Figure::Complete);
            counts.for_each(|figure| *figure = Figure::Statuses);
        }
    }
    // h2load does not print its responses: each of the counts that make them may be the wrong one.
    if report.tool == Tool::H2load {
        let with_sum = found.iter_mut().filter(|one| one.figures.contains(&Figure::Complete));
        for one in with_sum {
            let parts =
                [Figure::Own(h2load::SUCCEEDED), Figure::Own(h2load::FAILED), Figure::Failed];
            let unnamed: Vec<Figure> =
                parts.into_iter().filter(|part| !one.figures.contains(part)).collect();
            one.figures.extend(unnamed);
        }
    }
    found
}

/// Whether the printed rate is not the printed count divided by the printed length, within their rounding.
pub fn rate_is_contradicted(report: &Report) -> bool {
    let of_rate = [Figure::Rate, Figure::Complete, Figure::Taken];
    let mut found = rates::contradictions(report).into_iter();
    found.any(|contradiction| {
        contradiction.figures.iter().all(|figure| of_rate.contains(figure))
            && contradiction.figures.contains(&Figure::Rate)
    })
}

/// The report without the bytes that other figures contradict, and without what a wrong clock measured: nothing follows from
/// them.
pub fn sound(report: &Report) -> Option<Report> {
    let found = contradictions(report);
    let of_bytes = |figure: Figure| found.iter().any(|one| one.figures.contains(&figure));
    let body = of_bytes(Figure::BodyBytes);
    // The number of responses may be what is wrong with the bodies: what each brought is then unknown.
    let of_both = |one: &Contradiction| {
        [Figure::Complete, Figure::BodyBytes].iter().all(|figure| one.figures.contains(figure))
    };
    let total = of_bytes(Figure::TotalBytes) || found.iter().any(of_both);
    let clock = wrk::clock_is_wrong(report);
    (total || body || clock).then(|| {
        let mut sound = report.clone();
        if clock {
            (sound.taken_s, sound.rate_per_s, sound.kilobytes_per_s) = (None, None, None);
            sound.socket_errors.iter_mut().for_each(|errors| errors.timeout = 0);
        }
        sound.total_bytes = sound.total_bytes.filter(|_| !total);
        sound.body_bytes = sound.body_bytes.filter(|_| !body);
        sound
    })
}

/// Whether one of these figures may be wrong: a contradiction is about them alone, or one of them explains all.
pub fn may_be_wrong(report: &Report, of: impl Fn(&Figure) -> bool) -> bool {
    let found = contradictions(report);
    let alone = culprits(&found);
    found.iter().any(|one| one.figures.iter().all(&of)) || alone.iter().any(&of)
}

/// The figures that alone explain all contradictions: without any one of them the others agree.
pub fn culprits(found: &[Contradiction]) -> Vec<Figure> {
    let Some((first, others)) = found.split_first() else { return Vec::new() };
    let in_all = |figure: &&Figure| others.iter().all(|other| other.figures.contains(figure));
    first.figures.iter().filter(in_all).copied().collect()
}
