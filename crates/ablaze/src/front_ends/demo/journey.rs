//! A journey of the demo: users of the shop log in, look at an item and put it in their basket. One line says how it went.

use std::time::Duration;

use ablaze_load::{Error, Load};
use ablaze_model::spec::{Blob, JourneySpec, LoadSpec, Secrets, Shape, UrlSpec};
use ablaze_report::number::{counted, grouped, rate, time};

/// What each user does, over and over.
const STEPS: &str = r#"# name: login
POST /login
[Form]
user: ann
password: nna
HTTP 200

# name: item
GET /items/7
HTTP 200
[Captures]
item: jsonpath "$.id"

# name: basket
POST /basket
{"item": {{item}}}
HTTP 201
[Asserts]
jsonpath "$.lines" count == 1
"#;

/// How long they do.
const LENGTH: Duration = Duration::from_secs(1);

/// What is walked, in words.
pub const TITLE: &str =
    "journey: log in, look at an item, put it in the basket (ablaze load --journey FILE.hurl)";

/// Walks it against this server: the verdict, the rate, the times of whole journeys and the asserts.
///
/// # Errors
/// When it could not be run.
pub fn walked(url: &str, users: u32, longest: Duration) -> Result<String, Error> {
    let (url, _) = UrlSpec::parse(url).map_err(|error| Error::Usage(error.to_string()))?;
    let mut spec = LoadSpec::default();
    spec.destination.url = Some(url);
    spec.shape = Shape::Closed { connections: Some(users) };
    spec.limits.duration_ns = Some(LENGTH.min(longest).as_nanos() as u64);
    spec.requests.journey =
        Some(JourneySpec::of(Blob::new("shop.hurl", STEPS.as_bytes().to_vec())));
    let run = Load::of_spec(spec, Secrets::default()).run()?;
    let Some(journeys) = &run.model().record.journeys else { return Ok(String::new()) };
    let per_s = journeys.whole as f64 / run.elapsed().as_secs_f64().max(1e-9);
    let p99 = journeys.duration.supported_quantile_ns(0.99);
    let p99 = p99.map_or(String::new(), |ns| format!(" · p99 of a journey {}", time(ns as f64)));
    let users = counted(users.into(), "user");
    let (passed, failed) = (journeys.asserts_passed, journeys.asserts_failed);
    let asserts = format!("asserts: {} passed, {} failed", grouped(passed), grouped(failed));
    let (verdict, limited) = (run.verdict(), run.limited());
    Ok(format!("{verdict} · {limited}\n  {} journeys/s of {users}{p99} · {asserts}\n", rate(per_s)))
}
