//! What can be changed so that nothing that is due waits: each front end has options of its own for it.

use ablaze_model::Run;
use ablaze_model::spec::FrontEnd;

use crate::live::options::{Opt, spelled};

/// How whoever asked for the run has a client that does not wait for connections.
pub(super) fn for_no_wait(run: &Run) -> String {
    let (connections, rate) = (spelled(run, Opt::Connections), spelled(run, Opt::Rate));
    let noun = if run.plan.journey.is_some() { "users" } else { "connections" };
    match run.front_end() {
        // Their rate is that of each connection: with more of them each waits as long.
        FrontEnd::Hey | FrontEnd::H2load => {
            format!("for a client that never waits, use a lower rate of each connection ({rate})")
        }
        // Without the option there is a limit all the same.
        FrontEnd::Oha | FrontEnd::Gurl => {
            format!(
                "for a client that never waits, permit more {noun} ({connections}), or lower the rate"
            )
        }
        _ => format!(
            "for a client that never waits, permit more {noun} ({connections}) or set no limit, or lower the rate"
        ),
    }
}
