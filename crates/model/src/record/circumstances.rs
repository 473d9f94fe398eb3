//! What more is known of some requests that failed, and of connections that ended, than their kinds say.

/// How many there were of each; over HTTP/1 only, but for `interim_*`, `*_connecting` and `came_late`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Circumstances {
    /// Of the connections given up for surplus bytes, those with no request under way on which the server said 408
    /// (Request Timeout; RFC 9110, section 15.5.9): it closes them as they were idle.
    pub idle_timeouts: u64,
    /// Of the malformed responses, those on connections that had carried a whole response before: what came may belong behind
    /// that one.
    pub malformed_behind: u64,
    /// Of the failures, those to which a whole interim response (1xx) came and nothing of a final one.
    pub interim_only: u64,
    /// Of the requests closed without a response, those on connections that this program closed.
    pub closed_here: u64,
    /// Of these, those closed for surplus bytes behind the response before.
    pub closed_for_surplus: u64,
    /// Of the unfinished, those to which a whole interim response came and nothing of a final one.
    pub interim_unfinished: u64,
    /// Of the resets, those of connections that were being made: the TLS handshake was reset, or a tunnel below it. Nothing of
    /// a request was sent on them.
    pub reset_connecting: u64,
    /// The same of those closed without a response.
    pub closed_connecting: u64,
    /// And of the timeouts: for these no connection stood in time.
    pub timed_out_connecting: u64,
    /// Of the timeouts, those whose response was whole when it was read, behind the limit.
    pub came_late: u64,
    /// Of the timeouts, those whose request had not left whole: the server did not take its bytes.
    pub unsent_timed_out: u64,
    /// The same of the unfinished.
    pub unsent_unfinished: u64,
}

impl Circumstances {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self {
            idle_timeouts,
            malformed_behind,
            interim_only,
            interim_unfinished,
            reset_connecting,
            closed_connecting,
            timed_out_connecting,
            came_late,
            closed_here,
            closed_for_surplus,
            unsent_timed_out,
            unsent_unfinished,
        } = other;
        self.idle_timeouts += idle_timeouts;
        self.malformed_behind += malformed_behind;
        self.interim_only += interim_only;
        self.interim_unfinished += interim_unfinished;
        self.reset_connecting += reset_connecting;
        self.closed_connecting += closed_connecting;
        self.timed_out_connecting += timed_out_connecting;
        self.came_late += came_late;
        self.closed_here += closed_here;
        self.closed_for_surplus += closed_for_surplus;
        self.unsent_timed_out += unsent_timed_out;
        self.unsent_unfinished += unsent_unfinished;
    }
}
