//! The bytes of requests, laid out once before the run: constant requests where the driver can
//! send them from, patched ones in a buffer per connection of which only the patches change.

use std::sync::Arc;

use ablaze_net::{Io, OutBuffer, Outgoing};
use ablaze_wire::http1::assemble::Assembler;
use ablaze_wire::http1::patch::{Digits, Patcher};
use ablaze_wire::http1::request::Template;

use ablaze_feed::{Order, Table};
use ablaze_model::Plan;
use ablaze_model::plan::Requests;
use ablaze_model::plan::data::Data;
use ablaze_model::spec::Part;

/// Where each template's bytes lie.
#[derive(Debug, Clone)]
pub struct Layout {
    /// All templates, one after the other, for the driver.
    pub constant_bytes: Arc<[u8]>,
    /// First byte of each template.
    starts: Vec<u32>,
    /// How often the template is repeated there, so that several requests are one send.
    copies: u32,
}

impl Layout {
    /// Where requests are streams, nothing lies here: their bodies are those of a `RequestSet`.
    pub fn none() -> Self {
        Self { constant_bytes: [].into(), starts: Vec::new(), copies: 1 }
    }

    /// Lays out the templates; with a pipeline, a single constant one is repeated.
    pub fn new(requests: &Requests, pipeline: u32) -> Self {
        let single = requests.templates.len() == 1 && requests.templates[0].patches.is_empty();
        let copies = if single { pipeline.max(1) } else { 1 };
        if single && copies == 1 {
            // Copied once: it may be a large file.
            let constant_bytes = Arc::from(&requests.templates[0].bytes[..]);
            return Self { constant_bytes, starts: vec![0], copies };
        }
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for template in &requests.templates {
            starts.push(bytes.len() as u32);
            for _ in 0..copies {
                bytes.extend_from_slice(&template.bytes);
            }
        }
        Self { constant_bytes: bytes.into(), starts, copies }
    }
}

/// A worker's view of the requests: says what to send for each exchange.
#[derive(Debug)]
pub struct Outbox {
    layout: Layout,
    templates: Vec<Prepared>,
    order: Vec<u32>,
    /// What `{seq}` says is the number in the whole load, of which this may be a part.
    part: Part,
    digits: Digits,
    /// What requests need whose length differs from one to the next; apart, as the others do without.
    rows: Option<Box<Rows>>,
    /// The longest request, bytes.
    longest_bytes: usize,
    /// One per exchange that can be in flight, if any request is patched.
    places: Vec<Place>,
}

/// A template, and how its fields are filled in: beside it, as both are looked up for every patched request.
#[derive(Debug)]
struct Prepared {
    /// Without its bytes where it is constant: those lie in the layout, which all workers share.
    template: Template,
    /// Their number.
    bytes: u32,
    is_idempotent: bool,
    patcher: Patcher,
}

impl Prepared {
    fn new(template: &Template) -> Self {
        let is_constant = template.patches.is_empty();
        let bytes = if is_constant { Vec::new() } else { template.bytes.clone() };
        Self {
            template: Template { bytes, patches: template.patches.clone(), ..*template },
            bytes: template.bytes.len() as u32,
            is_idempotent: IDEMPOTENT.iter().any(|method| template.bytes.starts_with(method)),
            patcher: Patcher::new(template),
        }
    }
}

/// The buffer of one exchange in flight.
#[derive(Debug)]
struct Place {
    buffer: OutBuffer,
    /// Template whose bytes are in it, or [`NONE`].
    holds: u32,
}

const NONE: u32 = u32::MAX;

/// Methods whose requests may be sent again (RFC 9110, 9.2.2).
const IDEMPOTENT: [&[u8]; 6] = [b"GET ", b"HEAD ", b"PUT ", b"DELETE ", b"OPTIONS ", b"TRACE "];

impl Outbox {
    /// Whether requests of this template may be sent twice without harm.
    pub fn is_idempotent(&self, template: u32) -> bool {
        self.templates[template as usize].is_idempotent
    }

    /// For one worker.
    pub fn new(plan: &Plan, layout: Layout, worker: u32) -> Self {
        let requests = &plan.requests;
        let most_bytes = requests.templates.iter().map(|template| requests.most_bytes(template));
        Self {
            layout,
            longest_bytes: most_bytes.max().unwrap_or(0),
            templates: requests.templates.iter().map(Prepared::new).collect(),
            order: requests.order.clone(),
            part: plan.part.unwrap_or(Part::WHOLE),
            digits: Digits::new(requests.seed, u64::from(worker)),
            rows: requests.data.as_ref().and_then(|data| Rows::of(data, requests)),
            places: Vec::new(),
        }
    }

    /// The template of the request of this number.
    #[inline]
    pub fn template_of(&self, number: u64) -> u32 {
        match self.order.len() {
            0 => 0,
            length => self.order[(number % length as u64) as usize],
        }
    }

    /// What `{seq}` says in the request of this number.
    #[inline]
    pub fn sequence(&self, number: u64) -> u64 {
        self.part.in_whole(number)
    }

    /// Length of a request, bytes.
    #[inline]
    pub fn request_bytes(&self, template: u32) -> u32 {
        self.templates[template as usize].bytes
    }

    /// Whether the response to it has no body whatever its head says.
    #[inline]
    pub fn response_has_no_body(&self, template: u32) -> bool {
        self.templates[template as usize].template.response_has_no_body
    }

    /// Number of distinct requests.
    pub fn templates(&self) -> usize {
        self.templates.len()
    }

    /// How many requests of the same constant template one send can carry.
    pub fn copies(&self) -> u32 {
        self.layout.copies
    }

    /// `count` constant requests as one send; `count` is at most [`Self::copies`].
    #[inline]
    pub fn constant(&self, template: u32, count: u32) -> Outgoing {
        debug_assert!(count <= self.layout.copies);
        Outgoing::Constant {
            start: self.layout.starts[template as usize],
            len: self.request_bytes(template) * count,
        }
    }

    /// Whether every copy of a template is the same.
    #[inline]
    pub fn is_constant(&self, template: u32) -> bool {
        self.templates[template as usize].template.patches.is_empty()
    }

    /// Writes a patched request into the buffer of its place in flight and says what to send.
    pub fn patched<I: Io>(
        &mut self,
        io: &mut I,
        place: usize,
        template: u32,
        number: u64,
    ) -> Outgoing {
        let Place { buffer, holds } = &mut self.places[place];
        let Prepared { template: prepared, patcher, .. } = &self.templates[template as usize];
        let length = prepared.bytes.len();
        if *holds != template {
            // Where there are rows, no place ever holds a template.
            if self.rows.is_some() {
                return self.assembled(io, place, template, number);
            }
            io.leased(*buffer)[..length].copy_from_slice(&prepared.bytes);
            *holds = template;
        }
        let bytes = &mut io.leased(*buffer)[..length];
        patcher.apply(bytes, self.part.in_whole(number), &mut self.digits);
        Outgoing::Leased { buffer: *buffer, len: length as u32 }
    }

    /// The same with the cells of the request's row: its length differs from request to request.
    #[inline(never)]
    fn assembled<I: Io>(
        &mut self,
        io: &mut I,
        place: usize,
        template: u32,
        number: u64,
    ) -> Outgoing {
        let buffer = self.places[place].buffer;
        let Some(rows) = &mut self.rows else { return self.constant(template, 1) };
        let row = rows.order.row(number, rows.table.rows(), rows.seed);
        let cell = |column: u32| rows.table.cell(row, column as usize);
        let prepared = &self.templates[template as usize].template;
        let assembler = &rows.assemblers[template as usize];
        let out = io.leased(buffer);
        let sequence = self.part.in_whole(number);
        let len = assembler.assemble(prepared, out, sequence, &mut self.digits, cell) as u32;
        rows.lengths[place] = len;
        Outgoing::Leased { buffer, len }
    }

    /// Writes the request of this number behind `out`.
    pub fn write(&mut self, template: u32, number: u64, out: &mut Vec<u8>) {
        let Prepared { template: prepared, patcher, .. } = &self.templates[template as usize];
        let start = out.len();
        let sequence = self.part.in_whole(number);
        match &self.rows {
            Some(rows) if prepared.is_variable() => {
                out.resize(start + self.longest_bytes, 0);
                let row = rows.order.row(number, rows.table.rows(), rows.seed);
                let cell = |column: u32| rows.table.cell(row, column as usize);
                let assembler = &rows.assemblers[template as usize];
                let into = &mut out[start..];
                let length = assembler.assemble(prepared, into, sequence, &mut self.digits, cell);
                out.truncate(start + length);
            }
            _ => {
                out.extend_from_slice(&prepared.bytes);
                patcher.apply(&mut out[start..], sequence, &mut self.digits);
            }
        }
    }

    /// What was last written to a place, to send it again.
    pub fn again(&self, place: usize, template: u32) -> Outgoing {
        if self.is_constant(template) {
            return self.constant(template, 1);
        }
        let len = self.sent_bytes(place, template);
        Outgoing::Leased { buffer: self.places[place].buffer, len }
    }

    /// Length of the request that was last written to a place, bytes.
    pub fn sent_bytes(&self, place: usize, template: u32) -> u32 {
        match &self.rows {
            Some(rows) if !self.is_constant(template) => rows.lengths[place],
            _ => self.request_bytes(template),
        }
    }

    /// Leases a buffer for each place in flight, if any request is patched.
    pub fn lease_all<I: Io>(&mut self, io: &mut I, places: usize) {
        if self.templates.iter().all(|prepared| prepared.template.patches.is_empty()) {
            return;
        }
        let longest = self.longest_bytes;
        self.places =
            (0..places).map(|_| Place { buffer: io.lease(longest), holds: NONE }).collect();
        if let Some(rows) = &mut self.rows {
            rows.lengths = vec![0; places];
        }
    }
}

/// The rows that requests take, and how they are put together.
#[derive(Debug)]
struct Rows {
    table: Arc<Table>,
    order: Order,
    seed: u64,
    /// One per template.
    assemblers: Vec<Assembler>,
    /// Length of the request in each place, bytes.
    lengths: Vec<u32>,
}

impl Rows {
    fn of(data: &Data, requests: &Requests) -> Option<Box<Self>> {
        Some(Box::new(Self {
            table: Arc::clone(data.table.as_ref()?),
            order: data.order,
            seed: requests.seed,
            assemblers: requests.templates.iter().map(Assembler::new).collect(),
            lengths: Vec::new(),
        }))
    }
}
