//! The proxy that a run went through, in words: for every report that is read by people.

use ablaze_model::Run;
use ablaze_model::plan::proxy::Way;

use crate::number::counted;

/// Which proxy, how requests got through it, and whose process was watched if it is on this host;
/// `None` without one.
pub fn in_words(run: &Run) -> Option<Vec<String>> {
    let proxy = run.plan.target.proxy.as_ref()?;
    let asked = proxy.authority();
    let mut items = vec![match run.connected_to.as_str() {
        "" => format!("through the proxy {asked}"),
        address if address == asked => format!("through the proxy {asked}"),
        address => format!("through the proxy {asked} ({address})"),
    }];
    match (&run.record.proxy, proxy.way) {
        (Some(facts), Way::Tunnel) => {
            items.push(format!("{} by CONNECT", counted(facts.tunnels, "tunnel")));
            if let Some((_, words)) = &facts.first_failure {
                items.push(format!("first failure: {words}"));
            }
        }
        _ => items.push("which gets the whole URL".to_owned()),
    }
    if let Some(target) = run.monitor.as_ref().map(|monitor| &monitor.target)
        && target.on_this_host
    {
        let who = match target.busiest() {
            Some(process) => format!(" ({}, pid {})", process.name, process.pid),
            None => String::new(),
        };
        items.push(format!("figures of the server's process are the proxy's{who}"));
    }
    Some(items)
}

/// Who the process is that connections of this run end at.
pub fn watched(run: &Run) -> &'static str {
    if run.plan.target.proxy.is_some() { "proxy" } else { "server" }
}
