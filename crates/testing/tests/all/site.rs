//! The site of docs/, as `mdbook build` makes it, in a real browser: at the widths of a telephone and of a desk, light and
//! dark. Asked for by `.ci/full`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ablaze_testing::repository;
use ablaze_testing::skip::{installed_by_hand, long_tests_or_skip};
use ablaze_testing::{Bounded as _, DrivenBrowser, Scratch};
use serde_json::{Value, json};

const WIDTHS: [u32; 2] = [420, 1280];
const THEMES: [&str; 2] = ["light", "navy"];
/// Prose, wide tables, long lines of code, generated tables of options, pictures.
const PAGES: [&str; 8] = [
    "index.html",
    "guides/first-ten-minutes.html",
    "guides/coming-from.html",
    "protocols.html",
    "diagnoses.html",
    "live.html",
    "ab-compatibility.html",
    "commands/ablaze-load.html",
];

/// What WCAG 2 asks of text (AA).
const LEAST_CONTRAST: f64 = 4.5;

/// The visible text of the page with the least contrast to what lies behind it, each colour once.
const CONTRASTS: &str = r"(() => {
  const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const light = colour => {
    const [r, g, b] = colour.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  const texts = [];
  for (const part of document.querySelectorAll('main, .sidebar')) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode);
  }
  for (const node of texts) {
    const [text, element] = [node.textContent.trim(), node.parentElement];
    if (!text || element.getClientRects().length === 0) continue;
    const [fore, back] = [rgba(getComputedStyle(element).color), behind(element)];
    const [high, low] = [light(fore), light(back)].sort((a, b) => b - a);
    found[`${element.localName} ${fore} on ${back}: ${text.slice(0, 40)}`] = (high + 0.05) / (low + 0.05);
  }
  return found;
})()";

/// What hangs over the right edge of the window and does not scroll in a box of its own.
const TOO_WIDE: &str = r"(() => {
  const scrolls = element => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };
  const wide = [...document.querySelectorAll('main *')]
    .filter(element => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
    .map(element => `${element.localName}: ${element.textContent.trim().slice(0, 40)}`);
  return {page: document.documentElement.scrollWidth, window: innerWidth, wide: wide.slice(0, 5)};
})()";

/// Builds the site; `None`, and a skip, where there is no mdbook.
fn built(folder: &Scratch) -> Option<PathBuf> {
    let mdbook = installed_by_hand("mdbook")?;
    let site = folder.path().join("site");
    let mut command = Command::new(mdbook);
    let built = command.arg("build").arg("-d").arg(&site).arg(repository::folder()).ran();
    assert_eq!(built.status, 0, "{built:?}");
    Some(site)
}

/// Serves the folder on a port of its own for as long as the test program lasts.
fn served(site: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = site.clone();
            std::thread::spawn(move || answer(stream, &site));
        }
    });
    origin
}

/// One response on a connection; a browser that goes in between is no fault.
fn answer(mut stream: TcpStream, site: &Path) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&piece[..count]),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (status, body) =
        fs::read(site.join(path)).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// Goes to a page and waits until it has loaded.
fn go(browser: &mut DrivenBrowser, url: &str) {
    // The page before is marked, so that it is not taken for the new one.
    browser.evaluate("window.before = true");
    browser.ask("Page.navigate", &json!({ "url": url }));
    let there = "window.before !== true && document.readyState === 'complete' && \
                 document.querySelector('main') !== null";
    assert!(browser.comes_true(there), "{url}");
}

#[test]
fn the_site_looks_good_on_a_telephone_and_a_desk_light_and_dark() {
    if !long_tests_or_skip() {
        return;
    }
    let folder = Scratch::new("site");
    let Some(site) = built(&folder) else { return };
    let origin = served(site);
    let Some(mut browser) = DrivenBrowser::open(&format!("{origin}index.html")) else { return };
    assert!(browser.comes_true("document.readyState === 'complete'"));
    let mut faults = BTreeSet::new();
    for theme in THEMES {
        browser.evaluate(&format!("localStorage.setItem('mdbook-theme', '{theme}')"));
        for width in WIDTHS {
            let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
            browser.ask("Emulation.setDeviceMetricsOverride", &size);
            for page in PAGES {
                go(&mut browser, &format!("{origin}{page}"));
                let at = format!("{page}, {theme}, {width} px");
                let has = format!("document.documentElement.classList.contains('{theme}')");
                assert!(browser.comes_true(&has), "{at}: not the theme");
                faults.extend(
                    faults_of_layout(&mut browser, width).map(|why| format!("{at}: {why}")),
                );
                faults.extend(
                    faults_of_colour(&mut browser).iter().map(|why| format!("{at}: {why}")),
                );
                keep_picture(&mut browser, &at);
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(browser.complaints, Vec::<String>::new());
    let own = |url: &String| url.starts_with(&origin) || url.starts_with("data:");
    let foreign: Vec<&String> = browser.requests.iter().filter(|url| !own(url)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// What is wider than the window.
fn faults_of_layout(browser: &mut DrivenBrowser, width: u32) -> impl Iterator<Item = String> {
    let found = browser.evaluate(TOO_WIDE);
    assert_eq!(found["window"], width, "the window has not got the width");
    let is_wide = found["page"].as_u64().unwrap() > u64::from(width)
        || found["wide"].as_array().is_some_and(|wide| !wide.is_empty());
    is_wide.then(|| found.to_string()).into_iter()
}

/// Text that can hardly be read.
fn faults_of_colour(browser: &mut DrivenBrowser) -> Vec<String> {
    let found = browser.evaluate(CONTRASTS);
    let found = found.as_object().unwrap();
    assert!(found.len() > 10, "{found:?}");
    let contrast = |value: &Value| value.as_f64().unwrap();
    let faint = found.iter().filter(|(_, value)| contrast(value) < LEAST_CONTRAST);
    faint.map(|(what, value)| format!("contrast {:.2}, {what}", contrast(value))).collect()
}

/// Keeps what the page looks like in the folder that `ABLAZE_PICTURES` names, for somebody to look at.
fn keep_picture(browser: &mut DrivenBrowser, name: &str) {
    let Some(folder) = std::env::var_os("ABLAZE_PICTURES") else { return };
    let data = browser.ask("Page.captureScreenshot", &json!({ "format": "png" }));
    let name = name.replace(['/', ' ', ','], "-");
    let file = Path::new(&folder).join(format!("{name}.base64"));
    fs::write(file, data["data"].as_str().unwrap()).unwrap();
}

#[test]
fn the_search_of_the_site_finds_what_is_looked_for() {
    if !long_tests_or_skip() {
        return;
    }
    let folder = Scratch::new("site-search");
    let Some(site) = built(&folder) else { return };
    let origin = served(site);
    let Some(mut browser) = DrivenBrowser::open(&format!("{origin}index.html?search=warmup"))
    else {
        return;
    };
    let links = "[...document.querySelectorAll('#mdbook-searchresults a, #searchresults a')]";
    let found = format!("{links}.some(link => link.textContent.length > 0)");
    assert!(browser.comes_true(&found), "{:?}", browser.complaints);
    let first = browser.evaluate(&format!("{links}[0].href"));
    go(&mut browser, first.as_str().unwrap());
    let text = browser.evaluate("document.querySelector('main').textContent.toLowerCase()");
    let text = text.as_str().unwrap().replace('-', "");
    assert!(text.contains("warmup"), "{first}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Every page below the folder, by its path from there.
fn pages_of(site: &Path, below: &str, pages: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(site.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            pages_of(site, &format!("{path}/"), pages);
        } else if path.ends_with(".html") {
            pages.insert(path, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let parts: Vec<&str> = html.split(&format!(" {attribute}=\"")).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split('"').next())
}

/// The path that a link of a page leads to, from the top of the site.
fn resolved(page: &str, link: &str) -> String {
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[test]
fn every_link_and_anchor_of_the_site_leads_somewhere() {
    if !long_tests_or_skip() {
        return;
    }
    let folder = Scratch::new("site-links");
    let Some(site) = built(&folder) else { return };
    let mut pages = BTreeMap::new();
    pages_of(&site, "", &mut pages);
    // All chapters on one page, and the one for addresses that are not there, whose base is the top of another's site.
    pages.retain(|path, _| !["print.html", "404.html"].contains(&path.as_str()));
    let anchors: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path.as_str(), values(html, "id").collect())).collect();
    let (mut followed, mut dead) = (0, BTreeSet::new());
    for (page, html) in &pages {
        for link in values(html, "href").chain(values(html, "src")) {
            if link.contains("://") || link.starts_with("data:") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = file.split('?').next().unwrap_or_default();
            let to = if file.is_empty() { page.clone() } else { resolved(page, file) };
            let is_there = site.join(&to).is_file();
            let has = anchor.is_empty()
                || anchors.get(to.as_str()).is_some_and(|anchors| anchors.contains(anchor));
            if !is_there || !has {
                dead.insert(format!("{page}: {link}"));
            }
            followed += 1;
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
    assert!(followed > 500, "{followed}");
}

/// Options can be copied from the pages: two hyphens stay two hyphens.
#[test]
fn the_site_leaves_the_hyphens_of_options_alone() {
    if !long_tests_or_skip() {
        return;
    }
    let folder = Scratch::new("site-hyphens");
    let Some(site) = built(&folder) else { return };
    let mut pages = BTreeMap::new();
    pages_of(&site, "", &mut pages);
    let mut changed = BTreeSet::new();
    for (page, html) in &pages {
        for after in html.split('–').skip(1) {
            if after.starts_with(|c: char| c.is_ascii_lowercase()) {
                changed.insert(format!("{page}: –{}", after.chars().take(30).collect::<String>()));
            }
        }
    }
    assert!(changed.is_empty(), "{changed:#?}");
    assert!(pages.values().any(|html| html.contains("--fail-if")));
}
