//! A real browser, headless, for tests of pages: nothing on the console, nothing wider than the
//! window, no label of a chart outside of it, and what a script finds that acts on a page as a person does.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::process::Bounded;
use crate::scratch::Scratch;
use crate::skip::{find, long_tests, skip};

/// A telephone, the width at which the layout changes, a desk.
const WIDTHS: [u32; 4] = [400, 719, 720, 1600];

/// How long the browser may take on a busy machine.
const BROWSER_MAX: Duration = Duration::from_secs(180);

/// Asked of every page in its frame: what is wider than the window, and which visible labels lie
/// outside of their charts.
const QUESTIONS: &str = r#"
<script>
addEventListener("load", () => {
  const lines = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const [inner, page] = [frame.contentWindow, frame.contentDocument];
    const wide = page.documentElement.scrollWidth;
    let outside = 0, labels = 0;
    for (const chart of page.querySelectorAll("svg")) {
      const room = chart.getBoundingClientRect();
      if (room.width === 0) continue;
      for (const label of chart.querySelectorAll("text")) {
        const box = label.getBoundingClientRect();
        labels += 1;
        if (box.left < room.left - 1 || box.right > room.right + 1 ||
            box.top < room.top - 1 || box.bottom > room.bottom + 1) {
          outside += 1;
          lines.push(`label "${label.textContent}" of ${frame.name}`);
        }
      }
    }
    const buttons = page.querySelectorAll(".command button:not([hidden])").length;
    lines.push(`frame ${frame.name} ${wide} ${inner.innerWidth} ${labels} ${buttons}`);
  }
  document.getElementById("frames").textContent = "frames of this test\n" + lines.join("\n") + "\nend";
});
</script><pre id="frames"></pre>"#;

/// Opens every page, by its name, at every width. Skipped where there is no Chromium.
#[track_caller]
pub fn check(pages: &[(String, String)]) {
    let Some(browser) = browser() else { return };
    let mut host = String::from("<!DOCTYPE html><meta charset=\"utf-8\">");
    for (name, html) in pages {
        for width in WIDTHS {
            let _ = write!(
                host,
                "<iframe name=\"{name}-{width}\" style=\"width:{width}px;height:900px;border:0\" \
                 srcdoc=\"{}\"></iframe>",
                escaped(html)
            );
        }
    }
    host.push_str(QUESTIONS);
    let (dom, log) = visit(&browser, &host);
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:#?}");
    let found = dom
        .split("frames of this test\n")
        .nth(1)
        .unwrap_or_else(|| panic!("the page did not list its frames:\n{log}"));
    let found = found.split("\nend").next().unwrap_or_default();
    let frames: Vec<&str> = found.lines().filter(|line| line.starts_with("frame ")).collect();
    assert_eq!(frames.len(), pages.len() * WIDTHS.len(), "{found}");
    let outside: Vec<&str> = found.lines().filter(|line| line.starts_with("label ")).collect();
    assert!(outside.is_empty(), "outside of their charts: {outside:#?}");
    for frame in frames {
        let words: Vec<&str> = frame.split(' ').collect();
        let [wide, inner] = [words[2], words[3]].map(|word| word.parse::<u32>().unwrap());
        assert!(WIDTHS.contains(&inner) && wide <= inner, "{frame}");
    }
}

/// How a page is opened to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// As everybody opens it.
    Run,
    /// In a frame in which no script runs.
    Refused,
}

/// Opens pages in frames of 1000 × 900 and has `script` act on each, one after the other: the body of an async
/// function of `page` (the document), `inner` (its window) and `say(name, value)`. What it said, as one object for
/// each page by its name; `None`, and a skip, where there is no Chromium.
#[track_caller]
pub fn ask(pages: &[(&str, &str)], scripts: Scripts, script: &str) -> Option<Value> {
    let browser = browser()?;
    let mut host = String::from("<!DOCTYPE html><meta charset=\"utf-8\">");
    let sandbox = if scripts == Scripts::Run { "" } else { " sandbox=\"allow-same-origin\"" };
    for (name, html) in pages {
        let _ = write!(
            host,
            "<iframe name=\"{name}\"{sandbox} style=\"width:1000px;height:900px;border:0\" srcdoc=\"{}\"></iframe>",
            escaped(html)
        );
    }
    let _ = write!(
        host,
        "<pre id=\"said\"></pre><script>addEventListener(\"load\", async () => {{\n\
         const said = {{}};\n\
         for (const frame of document.querySelectorAll(\"iframe\")) {{\n\
         const answers = said[frame.name] = {{}};\n\
         const say = (name, value) => {{ answers[name] = value; }};\n\
         try {{ await (async (page, inner) => {{ {script} }})(frame.contentDocument, frame.contentWindow); }}\n\
         catch (error) {{ say(\"error\", String(error.stack)); }}\n}}\n\
         document.getElementById(\"said\").textContent = \"said:\" + encodeURIComponent(JSON.stringify(said)) + \":end\";\n\
         }});</script>"
    );
    let (said, log) = said_on(&browser, &host);
    let console = log.lines().filter(|line| line.contains("CONSOLE"));
    // Of a frame that refuses scripts the browser says so.
    let console: Vec<&str> = console
        .filter(|line| scripts == Scripts::Run || !line.contains("Blocked script execution"))
        .collect();
    assert!(console.is_empty(), "{console:#?}");
    let said = unescaped(&said);
    let said: Value = serde_json::from_str(&said).unwrap();
    for (name, _) in pages {
        assert_eq!(said[name].get("error"), None, "{name}");
    }
    Some(said)
}

/// What the script said, and what the browser logged. The browser's clock jumps over the time in which nothing is due, and what
/// it does on other threads, such as making a picture, may then not be done when its time is over: it is asked again.
fn said_on(browser: &Path, host: &str) -> (String, String) {
    const ATTEMPTS: u32 = 5;
    let mut log = String::new();
    for _ in 0..ATTEMPTS {
        let dom;
        (dom, log) = visit(browser, host);
        let said =
            dom.split_once("<pre id=\"said\">said:").and_then(|(_, rest)| rest.split_once(":end"));
        if let Some((said, _)) = said {
            return (said.to_owned(), log);
        }
    }
    panic!("the script did not end:\n{log}")
}

/// The text of encodeURIComponent.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next().unwrap()).to_digit(16).unwrap() as u8;
        bytes.push(if byte == b'%' { digit() * 16 + digit() } else { byte });
    }
    String::from_utf8(bytes).unwrap()
}

/// The browser; if there is none, a skip, and a failure where the long tests are asked for.
#[track_caller]
pub(crate) fn browser() -> Option<PathBuf> {
    let found =
        ["chromium", "chromium-browser", "google-chrome", "chrome"].into_iter().find_map(find);
    if found.is_none() {
        assert!(!long_tests(), "no Chromium on the PATH: .ci/full installs it");
        skip("no Chromium on the PATH (apt-get install chromium)");
    }
    found
}

/// Opens a page; its document after scripts have run, and what the browser logged.
fn visit(browser: &Path, html: &str) -> (String, String) {
    let folder = Scratch::new("page");
    let page = folder.write("page.html", html);
    let create = |name| Stdio::from(std::fs::File::create(folder.path().join(name)).unwrap());
    let mut process = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--enable-logging=stderr"])
        .args(["--window-size=1700,1000", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.file("profile")))
        .arg(format!("file://{page}"))
        .stdout(create("dom"))
        .stderr(create("log"))
        .start_for(BROWSER_MAX)
        .unwrap();
    process.wait().unwrap();
    (folder.read("dom"), folder.read("log"))
}

/// The text as the value of an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
