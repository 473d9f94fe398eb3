//! A real browser, headless, that a test drives while a page lives: over the pipe of Chromium's DevTools protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>), whose messages are JSON, each ended by a zero byte.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::browser;
use crate::process::{Bounded, Running};
use crate::scratch::Scratch;

/// How long the browser may take for one thing on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long it may run.
const BROWSER_MAX: Duration = Duration::from_secs(120);

/// A browser with one page.
#[derive(Debug)]
pub struct DrivenBrowser {
    _process: Running,
    _folder: Scratch,
    to: File,
    messages: Receiver<Value>,
    sent: u64,
    session: Value,
    /// What the page wrote on the console, and what went wrong in it.
    pub complaints: Vec<String>,
    /// The address of every request that it made.
    pub requests: Vec<String>,
}

impl DrivenBrowser {
    /// Opens this address. Skipped (`None`) where there is no Chromium.
    #[track_caller]
    pub fn open(url: &str) -> Option<Self> {
        let browser = browser()?;
        let folder = Scratch::new("driven-browser");
        let [to, from] = ["to", "from"].map(|name| folder.file(name));
        assert!(Command::new("mkfifo").args([&to, &from]).ran().status == 0);
        // Opened for both directions, neither waits for the other end.
        let open = |path: &str| File::options().read(true).write(true).open(path).unwrap();
        let (to_browser, from_browser) = (open(&to), open(&from));
        let process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<\"$0/to\" 4>\"$0/from\""])
            .arg(folder.path())
            .arg(browser)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.file("profile")))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .start_for(BROWSER_MAX)
            .unwrap();
        let (tell, messages) = channel();
        // Ends with the test program at the latest: this end of the pipe is held open until then.
        std::thread::spawn(move || {
            for message in BufReader::new(from_browser).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let mut driven = Self {
            _process: process,
            _folder: folder,
            to: to_browser,
            messages,
            sent: 0,
            session: Value::Null,
            complaints: Vec::new(),
            requests: Vec::new(),
        };
        driven.begin(url);
        Some(driven)
    }

    fn begin(&mut self, url: &str) {
        let targets = self.ask("Target.getTargets", &json!({}));
        let pages = targets["targetInfos"].as_array().unwrap().iter();
        let page = pages.into_iter().find(|target| target["type"] == "page").unwrap();
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        self.session = self.ask("Target.attachToTarget", &attach)["sessionId"].clone();
        for domain in ["Runtime", "Log", "Network", "Page"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
        self.ask("Page.navigate", &json!({ "url": url }));
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let heard = self.answer(method, parameters);
        assert!(heard["error"].is_null(), "{method}: {heard}");
        heard["result"].clone()
    }

    /// What the browser answers: a `result`, or an `error`.
    fn answer(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        let until = Instant::now() + ANSWER_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let heard = self.messages.recv_timeout(left);
            let heard = heard.unwrap_or_else(|why| panic!("{method}: no answer ({why})"));
            if heard["id"] == self.sent {
                return heard;
            }
            self.hear(&heard);
        }
    }

    /// The value of an expression on the page; a promise is waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.ask("Runtime.evaluate", &parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true; whether it came to be, while pages come and go.
    pub fn comes_true(&mut self, expression: &str) -> bool {
        crate::process::eventually(|| {
            self.hear_all();
            let parameters = json!({ "expression": expression, "returnByValue": true });
            // A page that goes while it is asked answers with an error.
            self.answer("Runtime.evaluate", &parameters)["result"]["result"]["value"] == true
        })
    }

    /// Hears what has come without waiting.
    fn hear_all(&mut self) {
        loop {
            match self.messages.recv_timeout(Duration::ZERO) {
                Ok(message) => self.hear(&message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn hear(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
                self.complaints.push(parameters.to_string());
            }
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            _ => {}
        }
    }
}
