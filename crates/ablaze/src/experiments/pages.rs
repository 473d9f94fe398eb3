//! The page of an experiment or a search in the folder of its results.

use std::path::Path;

use ablaze_report::exporters::Contents;
use ablaze_report::file;
use ablaze_report::page::Page;

use crate::{CommandError, outlets};

/// Puts the page that these contents have and its twin in Markdown into the folder of its results; as
/// [`keep_page`].
pub fn keep(folder: &Path, contents: &Contents) -> bool {
    match &contents.page {
        Ok(page) => keep_page(folder, page),
        Err(why) => {
            outlets::lost(&CommandError::machine(why.as_str()));
            false
        }
    }
}

/// Puts a page and its twin in Markdown into the folder of its results. Whether all of it is there; what is
/// not is told.
pub fn keep_page(folder: &Path, page: &Page) -> bool {
    outlets::attempt("the page", || {
        let markdown = page.markdown("BENCH");
        let mut files =
            vec![("index.html".to_owned(), page.html()), ("BENCH.md".to_owned(), markdown.text)];
        files.extend(markdown.files);
        let mut kept = Ok(());
        for (name, contents) in files {
            let this = file::write_report(&folder.join(name), &contents)
                .map_err(|error| CommandError::machine(format!("cannot save the page: {error}")));
            kept = kept.and(this);
        }
        kept
    })
}
