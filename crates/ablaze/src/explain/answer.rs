//! Everything that is answered: each file by itself.

use ablaze_report::json::SavedRun;
use ablaze_verdict::rules::{self, Judgement};
use ablaze_verdict::{live, saved};

use super::source::{Content, Source};

/// What is said of all files together.
pub struct Answer {
    /// In the order of the command line.
    pub files: Vec<File>,
}

/// What is said of one file.
pub struct File {
    /// What to call it.
    pub name: String,
    /// Number of its first report, over all files.
    pub first: usize,
    /// What was found.
    pub content: Judged,
}

/// One file's content, judged.
pub enum Judged {
    /// Printed reports, and how many pictures stand beside them.
    Text(Judgement, usize),
    /// A saved run.
    Run(Box<SavedRun>, live::Judged),
}

impl Answer {
    /// Judges what was read.
    pub fn of(sources: Vec<Source>) -> Self {
        let mut first = 1;
        let mut files = Vec::new();
        for Source { name, content } in sources {
            let (content, reports) = match content {
                Content::Text(text) => {
                    (Judged::Text(rules::judge(&text), text.images), text.reports.len())
                }
                Content::Run(run) => {
                    let judged = saved::judge(&run.run);
                    (Judged::Run(run, judged), 1)
                }
            };
            files.push(File { name, first, content });
            first += reports;
        }
        Self { files }
    }
}
