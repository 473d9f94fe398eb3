//! The matrix: which servers there are to judge, all of them or a choice in which every two
//! values of different columns meet at least once (pairwise, after Cohen et al., "The AETG
//! system", IEEE TSE 23(7), 1997: the next cell is the one with most pairs not yet seen).

use std::collections::HashSet;
use std::fmt;

use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{
    AcceptBatch, Arm, FiberOptions, Scheduler, SocketOptions, WriteMode,
};
use ablaze_target::{Model, Options};

use crate::models;

/// How long connections last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Persistence {
    /// All requests over one connection.
    Kept,
    /// The client asks for the close with its last request.
    ClientCloses,
    /// The server closes behind its first response, whatever the client wants.
    ServerCloses,
}

/// One server to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    model: Model,
    accept: AcceptMode,
    threads: usize,
    /// How long connections last.
    pub persistence: Persistence,
    send_buffer_bytes: Option<u32>,
    write: WriteMode,
    batch: AcceptBatch,
    scheduler: Scheduler,
    arm: Arm,
}

const PERSISTENCES: [Persistence; 3] =
    [Persistence::Kept, Persistence::ClientCloses, Persistence::ServerCloses];

impl Cell {
    /// Options of its server.
    pub fn options(&self) -> Options {
        Options {
            keep_alive: self.persistence != Persistence::ServerCloses,
            sockets: SocketOptions {
                send_buffer_bytes: self.send_buffer_bytes,
                ..SocketOptions::default()
            },
            write: self.write,
            accept_batch: self.batch,
            fibers: FiberOptions {
                scheduler: self.scheduler,
                arm: self.arm,
                ..FiberOptions::default()
            },
            ..models::options(self.model, self.accept, self.threads)
        }
    }

    /// Its values, column by column, as numbers.
    fn values(&self) -> [usize; COLUMNS] {
        [
            self.model as usize,
            self.accept as usize,
            self.threads,
            self.persistence as usize,
            usize::from(self.send_buffer_bytes.is_some()),
            self.write as usize,
            self.batch as usize,
            self.scheduler as usize,
            self.arm as usize,
        ]
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize, usize, usize)> {
        let values = self.values();
        (0..COLUMNS).flat_map(move |a| (0..a).map(move |b| (b, values[b], a, values[a])))
    }
}

const COLUMNS: usize = 9;

impl fmt::Display for Cell {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, accept, threads, persistence, .. } = self;
        write!(to, "{model} {accept} {threads} {persistence:?}")?;
        write!(to, " sndbuf={:?} {:?} {:?}", self.send_buffer_bytes, self.write, self.batch)?;
        match has_fibers(*model) {
            true => write!(to, " {:?} {:?}", self.scheduler, self.arm),
            false => Ok(()),
        }
    }
}

fn has_fibers(model: Model) -> bool {
    model.name().starts_with("fiber")
}

/// Every cell that the options allow: what only fibers know varies only there.
fn possible() -> Vec<Cell> {
    let mut cells = Vec::new();
    for model in models::judged() {
        let schedulers = [Scheduler::PerThread, Scheduler::Shared];
        let arms = [Arm::Persistent, Arm::PerWait];
        let fibers = if has_fibers(model) { 2 } else { 1 };
        for accept in models::accept_modes(model) {
            for threads in [1, 2] {
                for persistence in PERSISTENCES {
                    for send_buffer_bytes in [None, Some(65_536)] {
                        for bits in 0..4 * fibers * fibers {
                            let write = [WriteMode::Whole, WriteMode::Split][bits & 1];
                            let batch = [AcceptBatch::Drain, AcceptBatch::One][bits >> 1 & 1];
                            let scheduler = schedulers[bits >> 2 & 1];
                            let arm = arms[bits >> 3 & 1];
                            let cell = Cell {
                                model,
                                accept,
                                threads,
                                persistence,
                                send_buffer_bytes,
                                write,
                                batch,
                                scheduler,
                                arm,
                            };
                            if cell.options().validate().is_ok() {
                                cells.push(cell);
                            }
                        }
                    }
                }
            }
        }
    }
    cells
}

/// All of model x accept mode x threads x persistence x send buffer, the other columns in turn.
pub fn all() -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut at = 0;
    let possible = possible();
    while let Some(first) = possible.get(at) {
        let same = possible[at..]
            .iter()
            .take_while(|cell| cell.values()[..5] == first.values()[..5])
            .count();
        // Stepping by a number without a divisor in common with their count gives each its turn.
        cells.push(possible[at + cells.len() * 7 % same]);
        at += same;
    }
    cells
}

/// A choice in which all pairs meet; the same every time.
pub fn pairwise() -> Vec<Cell> {
    let possible = possible();
    let mut unseen: HashSet<_> = possible.iter().flat_map(Cell::pairs).collect();
    let mut chosen: Vec<Cell> = Vec::new();
    while !unseen.is_empty() {
        let news = |cell: &Cell| cell.pairs().filter(|pair| unseen.contains(pair)).count();
        // The last of equals, so that ties do not always fall to the first model.
        let best = *possible.iter().max_by_key(|cell| news(cell)).unwrap();
        for pair in best.pairs() {
            unseen.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

#[test]
fn the_choice_has_every_pair_and_is_small() {
    let chosen = pairwise();
    let seen: HashSet<_> = chosen.iter().flat_map(Cell::pairs).collect();
    for cell in possible() {
        for pair in cell.pairs() {
            assert!(seen.contains(&pair), "{pair:?} of {cell} is in no chosen cell");
        }
    }
    assert!(chosen.len() <= 40, "{} cells", chosen.len());
    assert_eq!(pairwise(), chosen);
}

#[test]
fn all_cells_are_all_there() {
    let cells = all();
    let columns: HashSet<_> = cells.iter().map(|cell| cell.values()[..5].to_vec()).collect();
    assert_eq!(columns.len(), cells.len());
    let pairs: usize = models::judged().iter().map(|&m| models::accept_modes(m).len()).sum();
    assert_eq!(cells.len(), pairs * 2 * 3 * 2);
}
