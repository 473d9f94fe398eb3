//! The page in a real browser: it loads, grows, acts, and becomes the finished page; with no complaint and no request
//! to anybody else.

use ablaze_testing::DrivenBrowser;

use super::support::{Watched, serve};

#[test]
fn the_page_of_a_run_grows_acts_and_ends_as_the_finished_page() {
    let (_server, url) = serve();
    let watched = Watched::start(&[&url, "-r", "500", "-d", "60s", "-o", "run.html"]);
    let Some(mut browser) = DrivenBrowser::open(&watched.url()) else {
        watched.press("stop");
        return;
    };
    let part = |id: &str| format!("document.getElementById('live-{id}')?.textContent ?? ''");
    let text = |id: &str| format!("({}).length > 0", part(id));
    assert!(browser.comes_true(&text("over-time")), "{:?}", browser.complaints);
    let before = browser.evaluate(&part("state"));
    assert!(browser.comes_true(&format!("({}) !== {before}", part("state"))));
    assert!(
        browser.evaluate("document.querySelectorAll('#live-over-time svg').length").as_u64()
            > Some(0)
    );
    let press = |does: &str| format!("document.querySelector('[data-does={does}]').click()");
    browser.evaluate(&press("faster"));
    assert!(browser.comes_true("document.querySelector('.said').textContent === '550/s'"));
    browser.evaluate(
        "{ const form = document.querySelector('[data-does=rate]'); form.elements.to.value = '800'; \
         form.requestSubmit(); }",
    );
    assert!(browser.comes_true("document.querySelector('.said').textContent === '800/s'"));
    browser.evaluate(&press("pause"));
    assert!(
        browser.comes_true("document.querySelector('[data-does=pause]').textContent === 'Go on'")
    );
    browser.evaluate(&press("stop"));
    assert!(browser.comes_true("location.pathname === '/finished'"));
    assert!(browser.comes_true("document.querySelector('.verdict') !== null"));
    is_quiet_and_alone(&browser, &watched);
    assert_eq!(watched.end().0, Some(130));
}

#[test]
fn the_page_of_a_fleet_has_its_workers_while_it_lasts_and_afterwards() {
    let (_server, url) = serve();
    let words = ["load", "--fleet", "exec:2", "-r", "200", "-d", "60s", &url];
    let watched = Watched::start(&words);
    let Some(mut browser) = DrivenBrowser::open(&watched.url()) else {
        watched.press("stop");
        return;
    };
    let rate = "td:nth-of-type(1)";
    let rates = format!("[...document.querySelectorAll('#live-workers tbody {rate}')]");
    let all_have = format!("{rates}.filter(cell => parseFloat(cell.textContent) > 0).length === 2");
    assert!(browser.comes_true(&all_have), "{:?}", browser.complaints);
    browser.evaluate("document.querySelector('[data-does=stop]').click()");
    assert!(browser.comes_true("location.pathname === '/finished'"));
    assert!(browser.comes_true("document.body.textContent.includes('2 workers by exec')"));
    is_quiet_and_alone(&browser, &watched);
    assert_eq!(watched.end().0, Some(130));
}

#[test]
fn the_page_of_a_comparison_fills_and_ends_as_the_finished_page() {
    let words = ["compare", "serve:epoll-et", "serve:blocking", "--repeat", "2", "-d", "1s"];
    let watched = Watched::start(&words);
    let Some(mut browser) = DrivenBrowser::open(&watched.url()) else {
        watched.press("stop");
        return;
    };
    let has = |id: &str, text: &str| {
        format!("document.getElementById('live-{id}')?.textContent.includes('{text}') ?? false")
    };
    assert!(browser.comes_true(&has("plan", "one under way")));
    assert!(browser.comes_true(&has("results", "server CPU/request")));
    assert!(browser.comes_true("location.pathname === '/finished'"));
    is_quiet_and_alone(&browser, &watched);
    assert_eq!(watched.end().0, Some(0));
}

/// Nothing on the console, and no request to anybody but the server of the page.
fn is_quiet_and_alone(browser: &DrivenBrowser, watched: &Watched) {
    assert_eq!(browser.complaints, Vec::<String>::new());
    let own = format!("http://{}/", watched.host);
    let foreign = |url: &&String| !url.starts_with(&own) && !url.starts_with("data:");
    let foreign: Vec<&String> = browser.requests.iter().filter(foreign).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}
