//! Who has logged in to the shop. The n-th login of a server has the n-th token of its seed and place n, modulo their
//! number: the oldest session makes room for a new one, and users of different places never wait for each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ablaze_random::SplitMix64;

/// Sessions that are kept.
const PLACES: usize = 65_536;
/// Different items in a basket.
const LINES_MAX: usize = 64;
/// Pieces of an item in a basket.
const COUNT_MAX: u32 = 10_000;

/// The sessions of a server.
#[derive(Debug)]
pub struct Sessions {
    seed: u64,
    begun: AtomicU64,
    places: Vec<Mutex<Option<Box<Session>>>>,
}

/// What is known of a user who has logged in.
#[derive(Debug)]
pub struct Session {
    token: [u8; 32],
    user: Box<str>,
    basket: Vec<(u32, u32)>,
}

/// A basket takes no more.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Sessions {
    /// No one has logged in.
    pub fn new(seed: u64) -> Self {
        let places = std::iter::repeat_with(Mutex::default).take(PLACES).collect();
        Self { seed, begun: AtomicU64::new(0), places }
    }

    /// A new session, by its token: 32 hexadecimal digits.
    pub fn begin(&self, user: &str) -> String {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let text = self.token(number, user);
        let mut token = [0; 32];
        // Two numbers of 16 digits.
        token.copy_from_slice(text.as_bytes());
        let session = Session { token, user: user.into(), basket: Vec::new() };
        *self.place(number) = Some(Box::new(session));
        text
    }

    /// What `act` makes of the session with this token; nothing if there is none, or none any more.
    pub fn with<T>(&self, token: &[u8], act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let mut place = self.place(number(token)?);
        let session = place.as_mut().filter(|session| session.token == token)?;
        Some(act(session))
    }

    /// Ends the session with this token; whether there was one.
    pub fn end(&self, token: &[u8]) -> bool {
        let Some(number) = number(token) else { return false };
        let mut place = self.place(number);
        let ends = place.as_ref().is_some_and(|session| session.token == token);
        if ends {
            *place = None;
        }
        ends
    }

    /// The number of the login, and a number that depends on seed, user and login. No secret: whoever knows the seed
    /// can compute it.
    fn token(&self, number: u64, user: &str) -> String {
        let mixed = user
            .bytes()
            .fold(self.seed ^ number, |mixed, byte| SplitMix64::at(mixed, u64::from(byte)));
        format!("{number:016x}{:016x}", SplitMix64::at(mixed, number))
    }

    fn place(&self, number: u64) -> MutexGuard<'_, Option<Box<Session>>> {
        let place = &self.places[(number % PLACES as u64) as usize];
        // A session is never left half changed.
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of the login that a token is of.
fn number(token: &[u8]) -> Option<u64> {
    let digits = token.get(..16).filter(|_| token.len() == 32)?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

impl Session {
    /// Whose it is.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Items and how many of each, in the order in which they came.
    pub fn basket(&self) -> &[(u32, u32)] {
        &self.basket
    }

    /// Puts so many of an item into the basket.
    ///
    /// # Errors
    /// When it takes no more; then it is as it was.
    pub fn add(&mut self, item: u32, count: u32) -> Result<(), Full> {
        let lines = self.basket.len();
        match self.basket.iter_mut().find(|(own, _)| *own == item) {
            Some((_, has)) if *has + count <= COUNT_MAX => *has += count,
            None if lines < LINES_MAX => self.basket.push((item, count)),
            _ => return Err(Full),
        }
        Ok(())
    }

    /// Takes all of an item out of the basket; whether there were any.
    pub fn remove(&mut self, item: u64) -> bool {
        let before = self.basket.len();
        self.basket.retain(|(own, _)| u64::from(*own) != item);
        self.basket.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_and_the_order_of_logins_decide_the_tokens() {
        let tokens = |seed| {
            let sessions = Sessions::new(seed);
            ["ann", "bob", "ann"].map(|user| sessions.begin(user))
        };
        assert_eq!(tokens(1), tokens(1));
        let (one, other) = (tokens(1), tokens(2));
        assert!(one.iter().all(|token| !other.contains(token)));
        assert_ne!(one[0], one[2]);
    }

    #[test]
    fn a_token_opens_its_session_and_no_other_text_does() {
        let sessions = Sessions::new(1);
        let (ann, bob) = (sessions.begin("ann"), sessions.begin("bob"));
        let user = |token: &str| sessions.with(token.as_bytes(), |own| own.user().to_owned());
        assert_eq!((user(&ann).as_deref(), user(&bob).as_deref()), (Some("ann"), Some("bob")));
        let mixed = format!("{}{}", &ann[..16], &bob[16..]);
        let signed = format!("+{}", &ann[1..]);
        for wrong in
            ["", "x", &ann[..31], &format!("{ann}0"), &mixed, &signed, &ann.replace('0', "g")]
        {
            assert_eq!(user(wrong), None, "{wrong}");
        }
        assert!(sessions.end(ann.as_bytes()) && !sessions.end(ann.as_bytes()));
        assert_eq!((user(&ann), user(&bob).as_deref()), (None, Some("bob")));
    }

    #[test]
    fn the_oldest_sessions_make_room_for_new_ones() {
        let sessions = Sessions::new(1);
        let first = sessions.begin("ann");
        let second = sessions.begin("ann");
        for _ in 1..PLACES {
            sessions.begin("bob");
        }
        let known = |token: &String| sessions.with(token.as_bytes(), |_| ()).is_some();
        assert!(!known(&first) && known(&second));
    }

    #[test]
    fn a_basket_is_bounded() {
        let mut session = Session { token: [0; 32], user: "ann".into(), basket: Vec::new() };
        for item in 1..=LINES_MAX as u32 {
            assert_eq!(session.add(item, COUNT_MAX - 1), Ok(()));
        }
        assert_eq!(session.add(LINES_MAX as u32 + 1, 1), Err(Full));
        assert_eq!((session.add(1, 1), session.add(1, 1)), (Ok(()), Err(Full)));
        assert!(session.remove(1) && !session.remove(1));
        assert_eq!(session.add(1000, 1), Ok(()));
    }
}
