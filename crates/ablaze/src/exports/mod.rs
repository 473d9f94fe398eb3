//! What leaves a run by itself, beside its report: lines and metrics while it lasts, and what build servers are told.

mod collector;
pub mod github;
pub mod ndjson;
mod options;
mod otlp;
mod prometheus;

use std::path::{Path, PathBuf};

use ablaze_model::{Assessed, Plan};

use self::otlp::Sender;
use self::prometheus::Endpoint;
use crate::CommandError;
use crate::carry_out::Watcher;
use crate::live::Steering;
use crate::watchers::Watchers;
use crate::web::run::RunPage;

pub use self::options::ExportOptions;

/// The exports of one run.
pub struct Exports {
    streams: Vec<ndjson::Stream>,
    endpoint: Option<Endpoint>,
    sender: Option<Sender>,
    web: Option<RunPage>,
    linger_ns: u64,
}

impl Exports {
    /// Opens all that was asked for; `outputs` are the files of `-o`, of which those of lines are written here.
    ///
    /// # Errors
    /// When a file cannot be written, or an address not be listened on.
    pub fn begin(
        asked: &ExportOptions,
        outputs: &[PathBuf],
        plan: &Plan,
        steering: &Steering,
    ) -> Result<Self, CommandError> {
        if asked.linger.is_some() && asked.prometheus.is_none() && asked.web.web.is_none() {
            let text = "--linger waits for somebody to fetch the final figures: use --prometheus or --web, too";
            return Err(CommandError::usage(text));
        }
        let streams = outputs.iter().filter(|path| is_streamed(path));
        let streams = streams.map(|path| ndjson::Stream::begin(path, plan, asked.interval));
        let endpoint = asked.prometheus.map(|address| Endpoint::begin(address, plan));
        let sender = asked.otlp.as_ref().map(|url| Sender::begin(url, plan, asked.interval));
        let web = asked.web.web.map(|address| RunPage::begin(address, plan, steering));
        Ok(Self {
            streams: streams.collect::<Result<_, _>>()?,
            endpoint: endpoint.transpose()?,
            sender: sender.transpose()?,
            web: web.transpose()?,
            linger_ns: asked.linger.unwrap_or(0),
        })
    }

    /// The watcher of the run and all exports as one.
    pub fn beside<'a>(&'a mut self, watcher: &'a mut dyn Watcher) -> Watchers<'a> {
        let Self { streams, endpoint, sender, web, .. } = self;
        let mut all: Vec<&'a mut dyn Watcher> = vec![watcher];
        all.extend(streams.iter_mut().map(|stream| -> &mut dyn Watcher { stream }));
        all.extend(endpoint.iter_mut().map(|endpoint| -> &mut dyn Watcher { endpoint }));
        all.extend(sender.iter_mut().map(|sender| -> &mut dyn Watcher { sender }));
        all.extend(web.iter_mut().map(|page| -> &mut dyn Watcher { page }));
        Watchers(all)
    }

    /// Where browsers can watch, if they can.
    pub fn page_address(&self) -> Option<String> {
        self.web.as_ref().map(|page| page.address().to_owned())
    }

    /// Hands out what is known when the run has been judged.
    pub fn end(&mut self, assessed: &Assessed) {
        self.streams.iter_mut().for_each(|stream| stream.end(assessed));
        self.web.iter().for_each(|page| page.end(assessed, self.linger_ns > 0));
    }

    /// Waits for what is sent, for browsers to have the finished page, and for a scraper if that was asked for: behind
    /// everything else.
    pub fn linger(&self) {
        self.sender.iter().for_each(Sender::end);
        self.endpoint.iter().for_each(|endpoint| endpoint.linger(self.linger_ns));
        self.web.iter().for_each(|page| page.linger(self.linger_ns));
    }
}

/// Whether a file of `-o` is written while the run lasts.
pub fn is_streamed(path: &Path) -> bool {
    ndjson::is_asked(path)
}
