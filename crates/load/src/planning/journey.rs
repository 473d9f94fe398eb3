//! A journey for a Plan: its file compiled, what is given from outside, where it goes. What cannot work is refused here,
//! by the line of the file.

use std::sync::Arc;

use ablaze_feed::{Encoding, Format, Order, Table, Wanted, columns};
use ablaze_journey::{Forwarded, Journey, Moment, Names, Site, Value, Variables};
use ablaze_model::plan::Requests;
use ablaze_model::plan::data::Data;
use ablaze_model::plan::journey::{PlannedJourney, Route};
use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_model::plan::users::Ways;
use ablaze_model::printable::printable;
use ablaze_model::spec::{
    Bodies, DataSpec, Head, JourneySpec, LoadSpec, Part, Secrets, UrlSpec, UsersSpec,
};
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::url::Url;

use super::journey_files::files;
use super::users::{Walked, users_per_connection};
use super::{hosts, redirect_rows, sources};
use crate::Error;

/// Variables that are set in every iteration: its number, and a random one.
const RESERVED: [&str; 2] = ["ablaze_seq", "ablaze_rand"];

/// Compiles the file of a journey.
///
/// # Errors
/// When its bytes are not here, it is no Hurl file, or has something in it that is not supported: with the line.
pub fn read(spec: &JourneySpec) -> Result<Journey, Error> {
    read_with(spec, &Names::default(), &[])
}

/// Compiles the file of a journey whose variables stand beside those of others: of these names, and with those of `set` known.
///
/// # Errors
/// As [`read`].
pub fn read_with(spec: &JourneySpec, names: &Names, set: &[usize]) -> Result<Journey, Error> {
    let name = &spec.file.name;
    let text = sources::text(spec.file.bytes()?)
        .map_err(|place| Error::usage(format!("file `{name}` for --journey, {place}")))?;
    let file = ablaze_journey::parse(text, name).map_err(|e| Error::usage(e.to_string()))?;
    let compiled = ablaze_journey::compile_with(&file, name, names, set);
    let mut journey = compiled.map_err(|e| Error::usage(e.to_string()))?;
    journey.follow_redirects(spec.location, spec.location_trusted, spec.max_redirects);
    match journey.not_under_load().first() {
        None => Ok(journey),
        Some(refusal) => Err(at(spec, refusal.line, &refusal.what)),
    }
}

/// The URL of the first step that has one: where the journey goes. `None` if its steps are paths alone.
///
/// # Errors
/// When the file cannot be used, or the URL is none.
pub fn url(
    spec: &JourneySpec,
    users: &UsersSpec,
    data: Option<&DataSpec>,
    secrets: &Secrets,
) -> Result<Option<Url>, Error> {
    let walked = Walked::read(spec, users)?;
    let journey = &walked.journey;
    let given = Given::of(spec, journey, data, secrets)?;
    given.check_needed(&walked)?;
    for index in 0..journey.steps.len() {
        let Some(text) = given.url_of(journey, index) else { continue };
        if text.starts_with('/') {
            continue;
        }
        return hosts::url_of(&text).map(Some).map_err(|what| walked.wrong(index, &what));
    }
    Ok(None)
}

/// The requests of a journey, what is walked, and where it goes beside the target.
///
/// # Errors
/// When something in the file, in what is given, or in the other options keeps it from being walked.
pub fn compose(
    asked: &JourneySpec,
    spec: &LoadSpec,
    url: &UrlSpec,
    proxy: Option<&Proxy>,
    secrets: &Secrets,
) -> Result<(Requests, PlannedJourney, Vec<UrlSpec>), Error> {
    refuse_others(spec)?;
    let walked = Walked::read(asked, &spec.requests.users)?;
    let users = walked.users(spec)?;
    let journey = &walked.journey;
    let mut given = Given::of(asked, journey, spec.requests.data.as_ref(), secrets)?;
    given.check_needed(&walked)?;
    let row_per_user = walked.setup_uses(&given.columns);
    if let Some(data) = given.data.as_mut().filter(|_| row_per_user) {
        rows_of_users(data, spec)?;
    }
    let mut site = Site::of(&url.to_url(), concat!("ablaze/", env!("CARGO_PKG_VERSION")));
    site.minor_version = spec.http.map_or(1, |version| version.minor());
    site.has_streams = spec.has_streams();
    site.keep_alive = spec.connections.keep_alive;
    site.forwarded = proxy.filter(|proxy| proxy.way == Way::Forward).map(forwarded);
    // Neither a sample nor `ablaze run` shows it.
    given.secrets.extend(site.forwarded.iter().filter_map(|one| one.authorization.clone()));
    let (sites, others) = hosts::sites(&walked, &given, site)?;
    let rows = redirect_rows::rows(&journey.steps);
    let main = walked.ways.main_steps(journey.steps.len());
    let steps: Vec<String> = journey.steps[..main].iter().map(|step| step.name.clone()).collect();
    let templates = rows.methods.iter().zip(&rows.steps).map(|(method, step)| {
        let request = RequestBuilder::new(method.as_str(), "/").header("Host", url.host_field());
        request.build().map_err(|error| walked.wrong(*step, &error.to_string()))
    });
    let requests = Requests {
        templates: templates.collect::<Result<_, _>>()?,
        order: Vec::new(),
        origins: Vec::new(),
        method: journey.steps.first().map_or_else(String::new, |step| step.method.clone()),
        minor_version: sites[0].minor_version,
        has_body: false,
        seed: spec.requests.seed,
        groups: rows.groups(main),
        data: given.data,
    };
    let route = Route {
        files: files(asked, &spec.requests.users)?,
        ways: Ways { row_per_user, ..walked.ways },
        journey: walked.journey,
        sites,
        given: given.variables,
        columns: given.columns,
        secrets: in_all_forms(&given.secrets),
        redirects: rows.of_redirects,
        continue_on_error: asked.continue_on_error,
        trace: None,
    };
    let name = asked.file.name.clone();
    let is_any = |step: &usize| route.journey.steps[*step].permits_any_status();
    let any_status = (0..main).filter(is_any).collect();
    let planned = PlannedJourney { name, steps, any_status, users, route: Some(Arc::new(route)) };
    Ok((requests, planned, others))
}

fn forwarded(proxy: &Proxy) -> Forwarded {
    let field = proxy.credentials.as_ref().map(|credentials| credentials.field.clone());
    Forwarded { authorization: field }
}

/// Each user keeps its row.
fn rows_of_users(data: &mut Data, spec: &LoadSpec) -> Result<(), Error> {
    if data.order != Order::Unique {
        return Ok(());
    }
    let connections = spec.shape.connections().unwrap_or_else(|| spec.closed_connections());
    let users = u64::from(connections) * u64::from(users_per_connection(spec));
    if data.rows < users {
        return Err(Error::usage(format!(
            "file `{}` for --feed has {} rows, and each of {users} users takes one for its setup: add rows, or leave out \
             --feed-order unique",
            printable(&data.name),
            data.rows
        )));
    }
    // Users have different rows then, and the run does not end when all are taken.
    data.order = Order::Sequential;
    Ok(())
}

/// What is wrong in a line of a journey's file.
pub(super) fn at(spec: &JourneySpec, line: u32, what: &str) -> Error {
    Error::usage(format!("{}:{line}: {what}", printable(&spec.file.name)))
}

/// What else was asked for that a journey says itself, or cannot be walked with.
fn refuse_others(spec: &LoadSpec) -> Result<(), Error> {
    let requests = &spec.requests;
    let composed = match &requests.head {
        Head::Composed { lines, content_type, user, .. } => [
            ("-H", !lines.is_empty()),
            ("--content-type", content_type.is_some()),
            ("-u", user.is_some()),
        ],
        Head::Verbatim { .. } => [("--journey", true), ("", false), ("", false)],
    };
    let said_in_file = [
        ("--method", requests.method.is_some()),
        ("--body", requests.bodies != Bodies::None),
        ("--urls", requests.urls.is_some()),
    ];
    let said_in_file = composed.into_iter().chain(said_in_file).find(|(_, is_given)| *is_given);
    if let Some((option, _)) = said_in_file {
        return Err(Error::usage(match option {
            "--journey" => "--journey is an option of `ablaze load`".to_owned(),
            _ => format!(
                "--journey and {option} cannot be used together: the file says what is sent"
            ),
        }));
    }
    match !spec.has_streams() && spec.in_flight > 1 {
        false => Ok(()),
        true => Err(Error::usage(
            "--journey and --pipeline cannot be used together: a user sends one request at a time",
        )),
    }
}

/// Secrets as they may stand in requests and responses, the longest first: a part of another must not be hidden before it.
fn in_all_forms(secrets: &[String]) -> Vec<String> {
    let forms = secrets.iter().flat_map(|secret| ablaze_journey::written_forms(secret));
    let mut forms: Vec<String> = forms.collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms
}

/// What is given from outside.
pub(super) struct Given {
    variables: Variables,
    secrets: Vec<String>,
    data: Option<Data>,
    columns: Vec<usize>,
}

impl Given {
    fn of(
        spec: &JourneySpec,
        journey: &Journey,
        data: Option<&DataSpec>,
        secrets: &Secrets,
    ) -> Result<Self, Error> {
        let mut variables = journey.variables();
        let slot = |name: &str| journey.names().slot(name);
        for (name, text) in &spec.variables {
            if let Some(slot) = slot(name) {
                variables.set(slot, Some(Value::given(text)));
            }
        }
        let mut hidden = Vec::new();
        for (name, of) in &spec.secrets {
            let text = secrets.text(of)?;
            hidden.push(text.to_owned());
            if let Some(slot) = slot(name) {
                variables.set(slot, Some(Value::from(text)));
            }
        }
        if let Some((name, _)) =
            spec.variables.iter().find(|(name, _)| RESERVED.contains(&name.as_str()))
        {
            return Err(Error::usage(format!(
                "--variable {name}: the name is reserved, ablaze sets it in every iteration"
            )));
        }
        let mut columns = Vec::new();
        let data = match data {
            None => None,
            Some(data) => Some(rows(data, journey, &mut columns)?),
        };
        Ok(Self { variables, secrets: hidden, data, columns })
    }

    fn check_needed(&self, walked: &Walked<'_>) -> Result<(), Error> {
        let journey = &walked.journey;
        let is_given = |slot: usize| {
            self.variables.get(slot).is_some()
                || self.columns.contains(&slot)
                || RESERVED.contains(&journey.names().name(slot))
        };
        let missing = walked.needed().find(|(_, needed)| !is_given(needed.slot));
        missing.map_or(Ok(()), |(spec, needed)| {
            let name = journey.names().name(needed.slot);
            let what = format!(
                "the variable {name} is not set by any step before (fix: --variable {name}=VALUE, or a column {name} \
                 of --feed)"
            );
            Err(at(spec, needed.line, &what))
        })
    }

    /// The URL of a step in the first iteration, if nothing in it is captured.
    fn url_of(&self, journey: &Journey, step: usize) -> Option<String> {
        self.url_with(journey, step, |table, column| table.cell(0, column))
    }

    /// The URLs of a step, one for each host that it goes to by the rows of the feed; `None` if something in them is
    /// captured.
    pub(super) fn urls_of(&self, journey: &Journey, step: usize) -> Option<Vec<String>> {
        let first = self.url_of(journey, step)?;
        let rows = match self.data.as_ref().and_then(|data| data.table.as_ref()) {
            Some(table) if self.host_is_fed(journey, step) => table.rows(),
            _ => return Some(vec![first]),
        };
        let of_row =
            |row| self.url_with(journey, step, move |table, column| table.cell(row, column));
        Some(hosts::by_host((0..rows).filter_map(of_row)))
    }

    /// Whether the host of a step's URL comes from the feed.
    fn host_is_fed(&self, journey: &Journey, step: usize) -> bool {
        const MARK: &str = "ablaze-column";
        let marked = self.url_with(journey, step, |_, _| MARK.as_bytes()).unwrap_or_default();
        let behind = marked.split_once("://").map_or(marked.as_str(), |(_, rest)| rest);
        let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
        host.contains(MARK) || marked.starts_with(MARK)
    }

    fn url_with<'t>(
        &'t self,
        journey: &Journey,
        step: usize,
        cell: impl Fn(&'t Table, usize) -> &'t [u8],
    ) -> Option<String> {
        let mut variables = self.variables.clone();
        if let Some(table) = self.data.as_ref().and_then(|data| data.table.as_ref()) {
            for (column, slot) in self.columns.iter().enumerate() {
                variables.set_text(*slot, &String::from_utf8_lossy(cell(table, column)));
            }
        }
        for slot in RESERVED.iter().filter_map(|name| journey.names().slot(name)) {
            variables.set_integer(slot, 0);
        }
        let step = &journey.steps[step];
        step.set_variables(&mut variables, &mut Beginning).ok()?;
        let mut url = Vec::new();
        step.write_url(&variables, &mut Beginning, &mut url).ok()?;
        String::from_utf8(url).ok()
    }
}

/// The rows of a feed: those columns that are variables of the journey.
fn rows(spec: &DataSpec, journey: &Journey, slots: &mut Vec<usize>) -> Result<Data, Error> {
    let name = &spec.feed.file.name;
    let wrong = |what: String| Error::usage(format!("file `{name}` for --feed: {what}"));
    let Some(format) = Format::of_name(name) else {
        return Err(wrong("its name must end with .csv, .tsv or .jsonl".to_owned()));
    };
    let bytes = spec.feed.file.bytes()?;
    let names = columns(bytes, format).map_err(|error| wrong(error.to_string()))?;
    let used = names.iter().filter_map(|name| Some((name, journey.names().slot(name)?)));
    let used: Vec<(&String, usize)> = used.collect();
    if used.is_empty() {
        let some = names.first().map_or("name", String::as_str);
        return Err(wrong(format!(
            "no step uses a column of it: write {{{{{some}}}}} where its value belongs"
        )));
    }
    if let Some((own, _)) = used.iter().find(|(name, _)| RESERVED.contains(&name.as_str())) {
        return Err(wrong(format!("the name of column `{own}` is reserved: give it another")));
    }
    let wanted: Vec<Wanted> = used
        .iter()
        .map(|(column, _)| Wanted { column: (*column).clone(), encoding: Encoding::Raw })
        .collect();
    let table = Table::read(bytes, format, &wanted).map_err(|error| wrong(error.to_string()))?;
    let table = match spec.feed.part {
        None => table,
        Some(Part { index, of }) => {
            let few =
                || wrong("it has fewer rows than machines that share it: add rows".to_owned());
            table.part(index as usize, of as usize).ok_or_else(few)?
        }
    };
    for row in 0..table.rows() {
        let is_text = |column: usize| std::str::from_utf8(table.cell(row, column)).is_ok();
        if let Some(column) = (0..wanted.len()).find(|column| !is_text(*column)) {
            let (line, column) = (table.line(row), &wanted[column].column);
            return Err(wrong(format!("line {line}: column `{column}` is not UTF-8 text")));
        }
    }
    slots.extend(used.iter().map(|(_, slot)| *slot));
    Ok(Data::new(name, spec.order, table))
}

/// Before the run nobody sees the time.
struct Beginning;

impl Moment for Beginning {
    fn unix_us(&mut self) -> i64 {
        0
    }

    fn random(&mut self) -> u128 {
        0
    }
}
