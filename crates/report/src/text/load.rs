//! What was asked for, of whom, and with what, in a line.

use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};

use super::Style;
use crate::number::{counted, grouped, rate};
use crate::table::wrapped;

/// The line, broken where the terminal is narrower.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    wrapped("", &items(run), " · ", style.width)
}

/// The same without the URL, with what was agreed on with proxy and server.
pub(crate) fn in_words(run: &Run) -> String {
    let mut items = items(run)[1..].to_vec();
    items.extend(crate::proxy::in_words(run).unwrap_or_default());
    items.extend(crate::tls::in_words(run).unwrap_or_default());
    items.join(" · ")
}

/// What is to be loaded, and the shape of the load: what can be said before the run.
pub fn of_plan(plan: &Plan) -> (String, String) {
    let what = crate::journeys::title(plan)
        .unwrap_or_else(|| format!("{} {}", plan.requests.method, plan.target.url));
    // A fleet's machines have not said yet how many they have.
    let threads = match plan.workers.count {
        0 => plan.workers.count_reason.clone(),
        count => counted(count.into(), "thread"),
    };
    let version = plan.http_version();
    (what, format!("HTTP/{version} {} · {} · {threads}", connections_kept(plan), shape(plan)))
}

fn items(run: &Run) -> [String; 4] {
    let plan = &run.plan;
    [
        what(run),
        format!("HTTP/{} {}", plan.http_version(), connections_kept(plan)),
        shape(plan),
        format!("{}, {}", counted(plan.workers.count.into(), "thread"), run.backend.name),
    ]
}

/// Whether connections are used again, and how often.
fn connections_kept(plan: &Plan) -> String {
    match (plan.connections.keep_alive, plan.connections.requests_per_connection) {
        (false, _) => "a connection per request".to_string(),
        (true, Some(requests)) => format!("keep-alive, {} per connection", grouped(requests)),
        (true, None) => "keep-alive".to_string(),
    }
}

/// Method and URL; of a list of them, where it leads and how many it has; of journeys, which.
pub fn what(run: &Run) -> String {
    if let Some(title) = crate::journeys::title(&run.plan) {
        return title;
    }
    let (method, url) = (&run.plan.requests.method, &run.plan.target.url);
    let list = run.asked.as_ref().and_then(|asked| asked.requests.urls.as_ref());
    let kept = run.record.groups.len() as u64;
    if list.is_none() && kept < 2 {
        return format!("{method} {url}");
    }
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = url[from..].find('/').map_or(url.len(), |at| from + at);
    let number = if kept > 0 { kept } else { run.plan.requests.groups.too_many };
    // Lines that say their method have it in their name.
    let have_methods = list.is_some() && run.record.groups.iter().any(|one| one.name.contains(' '));
    let method = if have_methods { String::new() } else { format!("{method} ") };
    let urls = if number > 0 { counted(number, "URL") } else { "the URLs".to_owned() };
    let file = list.map_or("a list", |list| &list.file.name);
    format!("{method}{}{} · {urls} of {file}", &url[..end], crate::journeys::and_others(&run.plan))
}

/// Behind a number of connections: where a list goes to several hosts, there are so many to each.
fn to_each(plan: &Plan) -> &'static str {
    if plan.target.others.is_empty() { "" } else { " to each host" }
}

/// The shape of the load in words.
fn shape(plan: &Plan) -> String {
    match plan.load {
        Load::Closed { connections, pipeline } => {
            let connections = counted(connections.into(), "connection");
            let connections = || format!("{connections}{}", to_each(plan));
            let users = crate::users::number(plan);
            let are_users = users.is_some();
            let mut text = format!("closed loop, {}", users.unwrap_or_else(connections));
            if pipeline > 1 && !are_users {
                let what = if plan.streams().is_some() { "streams" } else { "pipelined requests" };
                text.push_str(&format!(" × {pipeline} {what}"));
            }
            std::iter::once(text).chain(crate::users::asked(plan)).collect::<Vec<_>>().join(", ")
        }
        Load::Open { rate, arrivals, connections, bounded } => {
            let spacing = match arrivals {
                Arrivals::Constant => "evenly spaced",
                Arrivals::Poisson => "Poisson",
            };
            let what = if plan.journey.is_some() { " journeys" } else { "" };
            let mut text = format!("open loop, {}", asked_rate(rate, what));
            text.push_str(&format!(" {spacing}"));
            if bounded {
                let connections = counted(connections.into(), "connection");
                text.push_str(&format!(", at most {connections}{}", to_each(plan)));
            }
            if let Some(streams) = plan.streams() {
                text.push_str(&format!(", up to {} each", counted(streams.into(), "stream")));
            }
            std::iter::once(text).chain(crate::users::asked(plan)).collect::<Vec<_>>().join(", ")
        }
    }
}

/// `what` arrives: nothing for requests, ` journeys` for journeys.
fn asked_rate(asked: RateProfile, what: &str) -> String {
    let RateProfile { from_per_s, to_per_s, steps } = asked;
    match steps {
        _ if asked.is_constant() => format!("{}{what}/s", rate(from_per_s)),
        0 | 1 => format!("{}/s to {}{what}/s", rate(from_per_s), rate(to_per_s)),
        steps => {
            format!("{}/s to {}{what}/s in {steps} steps", rate(from_per_s), rate(to_per_s))
        }
    }
}
