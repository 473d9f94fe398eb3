//! A built-in server as words: those that start `ablaze serve`, and that are shown. Nothing reads them but the parser
//! of its command line, which makes the same spec of them.

use std::path::Path;

use super::values::{App, Delay, FaultShare, Share, Threads};
use super::{
    FibersSpec, ModelSpec, ResponsesSpec, RouteSpec, ServedConnectionsSpec, ServedTlsSpec,
    TroubleSpec,
};
use crate::plan::tls::TlsVersion;
use crate::spec::requests::Body;
use crate::spec::wishes::HttpVersion;

impl ModelSpec {
    /// The words behind `ablaze serve`. The body of a route that was a file is that file, by its name.
    pub fn words(&self) -> Vec<String> {
        // Without `..`: an option that has no words must not compile.
        let Self {
            like,
            model,
            accept,
            threads,
            cpus,
            fibers,
            responses,
            connections,
            tls,
            trouble,
            stats,
        } = self;
        let mut words = Words::default();
        words.option("like", like.as_deref());
        words.option("model", model.as_deref());
        words.option("accept", accept.map(|mode| mode.name()));
        words.option("threads", threads.map(threads_word));
        if !cpus.is_empty() {
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            words.option("cpus", Some(cpus.join(",")));
        }
        words.fibers(fibers);
        words.responses(responses);
        words.connections(connections);
        words.tls(tls);
        words.trouble(trouble);
        words.path("stats", stats.as_deref());
        words.0
    }
}

/// Words so far.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn option(&mut self, name: &str, value: Option<impl ToString>) {
        let Some(value) = value.map(|value| value.to_string()) else { return };
        // What begins with a dash would be an option of its own.
        if value.is_empty() || value.starts_with('-') {
            self.0.push(format!("--{name}={value}"));
        } else {
            self.0.extend([format!("--{name}"), value]);
        }
    }

    fn switch(&mut self, name: &str, on: bool) {
        self.0.extend(on.then(|| format!("--{name}")));
    }

    fn time(&mut self, name: &str, ns: Option<u64>) {
        self.option(name, ns.map(time));
    }

    fn on_or_off(&mut self, name: &str, on: Option<bool>) {
        self.option(name, on.map(|on| if on { "on" } else { "off" }));
    }

    fn path(&mut self, name: &str, path: Option<&Path>) {
        self.option(name, path.map(Path::display));
    }

    fn fibers(&mut self, FibersSpec { stack_bytes, stack_pool, scheduler, arm }: &FibersSpec) {
        self.option("stack", *stack_bytes);
        self.option("stack-pool", *stack_pool);
        self.option("scheduler", scheduler.map(|scheduler| scheduler.name()));
        self.option("arm", arm.map(|arm| arm.name()));
    }

    fn responses(&mut self, responses: &ResponsesSpec) {
        let ResponsesSpec {
            body_bytes,
            status,
            head_bytes,
            routes,
            echo,
            app,
            kind,
            server_name,
            max_body_bytes,
            work_ns,
            in_service,
            write,
        } = responses;
        self.option("size", *body_bytes);
        self.option("status", *status);
        self.option("head-bytes", *head_bytes);
        routes.iter().for_each(|route| self.option("route", Some(route_word(route))));
        self.switch("echo", *echo);
        self.option("app", app.map(app_word));
        self.option("response", kind.map(|kind| kind.name()));
        self.option("server-name", server_name.as_deref());
        self.option("max-body", *max_body_bytes);
        // A bare number is nanoseconds here.
        self.option("work", *work_ns);
        self.option("in-service", *in_service);
        self.option("write", write.map(|write| write.name()));
    }

    fn connections(&mut self, connections: &ServedConnectionsSpec) {
        let ServedConnectionsSpec {
            http,
            max_streams,
            retry,
            keep_alive,
            max_requests,
            read_timeout_ns,
            backlog,
            accept_batch,
            per_accept,
            max_events,
            send_buffer_bytes,
            receive_buffer_bytes,
            no_delay,
        } = connections;
        self.option("http", http.map(http_word));
        self.option("max-streams", *max_streams);
        self.switch("retry", *retry);
        self.switch("keep-alive", *keep_alive == Some(true));
        self.switch("close", *keep_alive == Some(false));
        self.option("max-requests", *max_requests);
        self.time("read-timeout", *read_timeout_ns);
        self.option("backlog", *backlog);
        self.option("accept-batch", accept_batch.map(|batch| batch.name()));
        self.option("per-accept", per_accept.map(|work| work.name()));
        self.option("max-events", *max_events);
        self.option("sndbuf", *send_buffer_bytes);
        self.option("rcvbuf", *receive_buffer_bytes);
        self.on_or_off("nodelay", *no_delay);
    }

    fn tls(&mut self, tls: &ServedTlsSpec) {
        let ServedTlsSpec {
            on,
            authority_out,
            certificate,
            key,
            oldest,
            newest,
            tickets,
            client_authorities,
        } = tls;
        self.switch("tls", *on);
        self.path("tls-ca-out", authority_out.as_deref());
        self.path("tls-cert", certificate.as_deref());
        self.path("tls-key", key.as_deref());
        self.option("tls-min", oldest.map(tls_word));
        self.option("tls-max", newest.map(tls_word));
        self.on_or_off("tls-tickets", *tickets);
        self.path("tls-client-ca", client_authorities.as_deref());
    }

    fn trouble(&mut self, trouble: &TroubleSpec) {
        let TroubleSpec { delay, faults, datagram_loss, seed } = trouble;
        self.option("delay", delay.map(delay_word));
        for FaultShare { fault, share } in faults {
            self.option("fault", Some(format!("{}={}", fault.name(), share.get())));
        }
        self.option("datagram-loss", datagram_loss.map(Share::get));
        self.option("seed", *seed);
    }
}

fn threads_word(threads: Threads) -> String {
    match threads {
        Threads::All => "all".to_owned(),
        Threads::Exactly(threads) => threads.to_string(),
    }
}

fn app_word(App::Shop { not_found, failing }: App) -> String {
    let share =
        |status: u16, share: Option<Share>| share.map(|share| format!("{status}={}", share.get()));
    let errors: Vec<String> =
        [share(404, not_found), share(500, failing)].into_iter().flatten().collect();
    match errors.is_empty() {
        true => "shop".to_owned(),
        false => format!("shop:{}", errors.join("/")),
    }
}

fn route_word(RouteSpec { path, status, body }: &RouteSpec) -> String {
    match body {
        Body::Given(bytes) => format!("{path}={status}:{}", String::from_utf8_lossy(&bytes.0)),
        Body::File(file) => format!("{path}={status}:@{}", file.name),
    }
}

fn http_word(version: HttpVersion) -> &'static str {
    match version {
        HttpVersion::Http10 => "1.0",
        HttpVersion::Http11 => "1.1",
        HttpVersion::Http2 => "2",
        HttpVersion::Http3 => "3",
    }
}

fn tls_word(version: TlsVersion) -> &'static str {
    match version {
        TlsVersion::V1_2 => "1.2",
        TlsVersion::V1_3 => "1.3",
    }
}

fn delay_word(delay: Delay) -> String {
    match delay {
        Delay::Constant(ns) => time(ns),
        Delay::Uniform(least, most) => format!("uniform:{}-{}", time(least), time(most)),
        Delay::Exponential(mean) => format!("exp:{}", time(mean)),
        Delay::Bimodal(mostly, sometimes, share) => {
            format!("bimodal:{}/{}/{}", time(mostly), time(sometimes), share.get())
        }
        Delay::Stall(length, period) => format!("stall:{}/{}", time(length), time(period)),
    }
}

/// A time in the largest unit that it is a whole number of.
fn time(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
    let whole = units.iter().find(|(unit_ns, _)| ns.is_multiple_of(*unit_ns));
    whole.map_or_else(|| format!("{ns}ns"), |(unit_ns, unit)| format!("{}{unit}", ns / unit_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::server::values::{Fault, Share};

    #[test]
    fn values_are_written_as_people_would() {
        assert_eq!([0, 1_500_000_000, 20_000_000, 7].map(time), ["0s", "1500ms", "20ms", "7ns"]);
        let mut model = ModelSpec { model: Some("epoll-et".to_owned()), ..ModelSpec::default() };
        model.responses.server_name = Some(String::new());
        let share = Share::new(0.01).unwrap();
        model.trouble.faults.push(FaultShare { fault: Fault::Garbage, share });
        model.trouble.delay = Some(Delay::Bimodal(1_000_000, 100_000_000, share));
        assert_eq!(
            model.words().join(" "),
            "--model epoll-et --server-name= --delay bimodal:1ms/100ms/0.01 --fault garbage=0.01"
        );
        assert!(ModelSpec::default().words().is_empty());
    }
}
