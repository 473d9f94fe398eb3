//! What the browsers are shown: the newest state of every part of the page. Whoever measures replaces it and goes on; whoever
//! serves a browser takes what is newest when that browser has taken what was before.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ablaze_report::page::live::Part;

/// Browsers that follow at a time.
const FOLLOWERS_MAX: usize = 16;
/// A browser that is gone for so long does not come back.
const COMES_BACK: Duration = Duration::from_secs(3);

/// The newest state, for all threads.
#[derive(Debug, Default)]
pub struct Board {
    /// The page as a browser gets it first: there before anybody can come.
    page: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    parts: Vec<Posted>,
    version: u64,
    /// The finished page.
    finished: Option<Arc<String>>,
    /// It is over, with or without a finished page.
    is_over: bool,
    followers: usize,
    /// When the last of them went away.
    left_at: Option<Instant>,
    /// A browser has come since parts were replaced last.
    is_wanted: bool,
    /// How many have the finished page, and how many want it.
    fetched: usize,
    awaited: usize,
}

#[derive(Debug)]
struct Posted {
    part: Arc<Part>,
    version: u64,
}

/// What is new to a follower.
#[derive(Debug)]
pub enum News {
    /// Parts that have changed.
    Parts(Vec<Arc<Part>>),
    /// The finished page is there.
    Finished,
    /// It is over, and there is no finished page.
    Over,
    /// Nothing for a while.
    Nothing,
}

/// A browser that follows, until it is dropped.
#[derive(Debug)]
pub struct Follower<'a> {
    board: &'a Board,
    seen: u64,
}

impl State {
    /// How many follow; one that has just gone may come back.
    fn followed_lately(&self) -> usize {
        let lately = self.left_at.is_some_and(|left_at| left_at.elapsed() < COMES_BACK);
        self.followers.max(usize::from(lately))
    }
}

impl Board {
    /// A board whose browsers get this page first.
    pub fn of(page: String) -> Self {
        Self { page, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked has left is as good as before: it is only ever replaced.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page as a browser gets it first.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Whether somebody looks at it.
    pub fn is_followed(&self) -> bool {
        self.state().followers > 0
    }

    /// Whether a browser came since this was asked last: it has nothing newer than the first page.
    pub fn take_wanted(&self) -> bool {
        std::mem::take(&mut self.state().is_wanted)
    }

    /// Replaces parts; those that have not changed are not sent.
    pub fn post(&self, parts: Vec<Part>) {
        let mut state = self.state();
        let version = state.version + 1;
        for part in parts {
            match state.parts.iter_mut().find(|posted| posted.part.id == part.id) {
                Some(posted) if *posted.part == part => {}
                Some(posted) => *posted = Posted { part: Arc::new(part), version },
                None => state.parts.push(Posted { part: Arc::new(part), version }),
            }
        }
        state.version = version;
        self.changed.notify_all();
    }

    /// It is over: with this page, if there can be one. It is made only where somebody follows, or `is_wanted` all the same.
    pub fn finish(&self, is_wanted: bool, page: impl FnOnce() -> Option<String>) {
        let is_wanted = is_wanted || self.state().followed_lately() > 0;
        let page = if is_wanted { page() } else { None };
        let mut state = self.state();
        state.finished = page.map(Arc::new);
        state.is_over = true;
        state.awaited = state.followed_lately();
        self.changed.notify_all();
    }

    /// The finished page, when there is one.
    pub fn finished(&self) -> Option<Arc<String>> {
        self.state().finished.clone()
    }

    /// A browser has the finished page.
    pub fn fetched(&self) {
        self.state().fetched += 1;
        self.changed.notify_all();
    }

    /// Follows from now on; `None` if there are enough already.
    pub fn follow(&self) -> Option<Follower<'_>> {
        let mut state = self.state();
        if state.followers >= FOLLOWERS_MAX {
            return None;
        }
        state.followers += 1;
        state.is_wanted = true;
        Some(Follower { board: self, seen: 0 })
    }

    /// Waits until whoever followed has the finished page, but no longer than this; where nobody did, `for_a_first` for
    /// somebody to come. `is_enough` ends it.
    pub fn wait_until_fetched(
        &self,
        longest: Duration,
        for_a_first: Duration,
        is_enough: impl Fn() -> bool,
    ) {
        /// How often it is looked whether it is enough.
        const LOOK: Duration = Duration::from_millis(100);
        let begun = Instant::now();
        let mut state = self.state();
        let (awaited, longest) = match state.awaited {
            0 => (1, for_a_first),
            awaited => (awaited, longest.max(for_a_first)),
        };
        while state.fetched < awaited && begun.elapsed() < longest && !is_enough() {
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Follower<'_> {
    /// What is new, or nothing after so long.
    pub fn news(&mut self, within: Duration) -> News {
        let until = Instant::now() + within;
        let mut state = self.board.state();
        loop {
            if state.is_over {
                return if state.finished.is_some() { News::Finished } else { News::Over };
            }
            let news = state.parts.iter().filter(|posted| posted.version > self.seen);
            let parts: Vec<Arc<Part>> = news.map(|posted| Arc::clone(&posted.part)).collect();
            if !parts.is_empty() {
                self.seen = state.version;
                return News::Parts(parts);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return News::Nothing;
            }
            let waited = self.board.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        let mut state = self.board.state();
        state.followers -= 1;
        state.left_at = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(id: &'static str, number: u32) -> Part {
        Part { id, html: number.to_string() }
    }

    fn parts(news: News) -> Vec<String> {
        let News::Parts(parts) = news else { panic!("{news:?}") };
        parts.iter().map(|part| format!("{}{}", part.id, part.html)).collect()
    }

    #[test]
    fn whoever_is_slow_gets_the_newest_state_and_only_what_has_changed() {
        let board = Board::default();
        let now = Duration::ZERO;
        assert!(!board.is_followed());
        let mut follower = board.follow().unwrap();
        assert!(board.is_followed() && board.take_wanted() && !board.take_wanted());
        assert!(matches!(follower.news(now), News::Nothing));
        board.post(vec![part("a", 0), part("b", 0)]);
        assert_eq!(parts(follower.news(now)), ["a0", "b0"]);
        (1..1_000).for_each(|number| board.post(vec![part("a", number), part("b", 0)]));
        assert_eq!(parts(follower.news(now)), ["a999"]);
        assert!(matches!(follower.news(now), News::Nothing));
        // Who comes later, or again, has everything at once.
        assert_eq!(parts(board.follow().unwrap().news(now)), ["a999", "b0"]);
        board.finish(false, || Some("page".to_owned()));
        assert!(matches!(follower.news(now), News::Finished));
    }

    #[test]
    fn there_are_sixteen_places_and_one_that_goes_leaves_its_own() {
        let board = Board::default();
        let mut all: Vec<_> = (0..FOLLOWERS_MAX).map(|_| board.follow().unwrap()).collect();
        assert!(board.follow().is_none());
        all.pop();
        assert!(board.follow().is_some());
    }

    #[test]
    fn the_end_waits_for_those_who_follow_and_for_nobody_else() {
        const LONG: Duration = Duration::from_secs(60);
        let nobody = Board::default();
        nobody.finish(false, || panic!("nobody wants it"));
        nobody.wait_until_fetched(LONG, Duration::ZERO, || false);
        let board = Board::default();
        let follower = board.follow().unwrap();
        board.finish(false, || Some(String::new()));
        drop(follower);
        std::thread::scope(|scope| {
            scope.spawn(|| board.fetched());
            board.wait_until_fetched(LONG, Duration::ZERO, || false);
        });
        // One of two is not enough, Ctrl-C is.
        let board = Board::default();
        let followers = (board.follow().unwrap(), board.follow().unwrap());
        board.finish(false, || Some(String::new()));
        board.fetched();
        board.wait_until_fetched(Duration::from_millis(1), Duration::ZERO, || false);
        board.wait_until_fetched(LONG, Duration::ZERO, || true);
        drop(followers);
    }
}
