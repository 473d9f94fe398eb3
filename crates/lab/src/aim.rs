//! A load aimed at a target that serves: what its run is asked to do, to the last word.

use std::path::Path;

use ablaze_model::LoadSpec;
use ablaze_model::spec::{Blob, Head, TrustSpec};
use ablaze_report::system_error::reason;

use crate::experiment::Failure;
use crate::target::Serving;

/// The load on this target, by workers on these processors if there are any.
///
/// # Errors
/// When the certificate of the target's authority cannot be read.
pub(crate) fn aimed(load: &LoadSpec, at: &Serving, cpus: &[u32]) -> Result<LoadSpec, Failure> {
    let mut spec = load.clone();
    let mut words = vec!["ablaze".to_owned(), "load".to_owned()];
    words.append(&mut spec.words.0);
    if let (Head::Composed { user: user @ None, .. }, Some(_)) = (&mut spec.requests.head, &at.user)
    {
        user.clone_from(&at.user);
    }
    if let Some(authority) = &at.authority {
        trust(&mut spec, &mut words, authority)?;
    }
    pin(&mut spec, &mut words, cpus);
    words.push(at.url.shown.clone());
    spec.words.0 = words;
    spec.destination.url = Some(at.url.clone());
    Ok(spec)
}

/// Trusts only the target's own authority; `-k` still disables verification.
fn trust(spec: &mut LoadSpec, words: &mut Vec<String>, authority: &Path) -> Result<(), Failure> {
    if spec.tls.trust == TrustSpec::Anyone {
        return Ok(());
    }
    let name = authority.display().to_string();
    let bytes = std::fs::read(authority)
        .map_err(|error| Failure::Impossible(format!("{name}: {}", reason(&error))))?;
    let before =
        std::mem::replace(&mut spec.tls.trust, TrustSpec::Issuers(Blob::new(&name, bytes)));
    // The words are shown to people, and are to name one authority.
    if matches!(before, TrustSpec::Issuers(_)) {
        words.retain(|word| !word.starts_with("--cacert="));
        if let Some(at) = words.iter().position(|word| word == "--cacert") {
            words.drain(at..(at + 2).min(words.len()));
        }
    }
    words.extend(["--cacert".to_owned(), name]);
    Ok(())
}

/// Processors of its own for each thread; a load that names some, or wants more threads than these,
/// goes without.
fn pin(spec: &mut LoadSpec, words: &mut Vec<String>, cpus: &[u32]) {
    let threads = spec.workers.threads.unwrap_or(1) as usize;
    if cpus.is_empty() || !spec.workers.cpus.is_empty() || threads > cpus.len() {
        return;
    }
    spec.workers.cpus = cpus.to_vec();
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    words.extend(["--cpus".to_owned(), list.join(",")]);
}

#[cfg(test)]
mod tests {
    use ablaze_model::spec::{UrlSpec, Words};

    use super::*;

    fn load(words: &str) -> LoadSpec {
        let words = Words(words.split(' ').map(str::to_owned).collect());
        LoadSpec { words, ..LoadSpec::default() }
    }

    fn serving(authority: Option<&Path>) -> Serving {
        let (url, _) = UrlSpec::parse(":8080/").unwrap();
        Serving::elsewhere(url, authority)
    }

    #[test]
    fn the_words_are_those_of_a_command_by_hand() {
        let aimed_words = |load: &LoadSpec, cpus: &[u32]| {
            let aimed = aimed(load, &serving(None), cpus).unwrap();
            (aimed.words.0.join(" "), aimed.workers.cpus)
        };
        let url = "http://127.0.0.1:8080/";
        let (words, cpus) = aimed_words(&load("--connections 10"), &[0, 1]);
        assert_eq!(words, format!("ablaze load --connections 10 --cpus 0,1 {url}"));
        assert_eq!(cpus, [0, 1]);
        let mut two = load("--threads 2");
        two.workers.threads = Some(2);
        let (words, cpus) = aimed_words(&two, &[0]);
        assert_eq!(words, format!("ablaze load --threads 2 {url}"));
        assert!(cpus.is_empty());
        assert_eq!(aimed_words(&two, &[0, 1, 2]).1, [0, 1, 2]);
    }

    #[test]
    fn who_signed_for_targets_started_here_is_trusted() {
        let path = std::env::temp_dir().join(format!("authority-{}.pem", std::process::id()));
        std::fs::write(&path, "-----").unwrap();
        let mut load = load("--cacert b --http 2");
        load.tls.trust = TrustSpec::Issuers(Blob::new("b", Vec::new()));
        let trusting = aimed(&load, &serving(Some(&path)), &[]).unwrap();
        load.words = Words(vec!["--cacert=b".into(), "--http".into(), "2".into()]);
        let joined = aimed(&load, &serving(Some(&path)), &[]).unwrap();
        assert!(!joined.words.0.join(" ").contains("--cacert=b"), "{:?}", joined.words);
        load.tls.trust = TrustSpec::Anyone;
        let careless = aimed(&load, &serving(Some(&path)), &[]).unwrap();
        std::fs::remove_file(&path).unwrap();
        let name = path.display();
        let words = trusting.words.0.join(" ");
        assert!(words.starts_with(&format!("ablaze load --http 2 --cacert {name} ")), "{words}");
        assert_eq!(trusting.tls.trust.file().unwrap().bytes().unwrap(), b"-----");
        assert_eq!(careless.tls.trust, TrustSpec::Anyone);
    }
}
