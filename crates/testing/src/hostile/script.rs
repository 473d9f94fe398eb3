//! Which behaviour comes when.

use super::Behaviour;

/// A list of behaviours and what counts them off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    list: Vec<Behaviour>,
    by: By,
    then: Option<Behaviour>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Connection,
    Request,
}

impl Script {
    /// Always the same.
    pub fn always(behaviour: Behaviour) -> Self {
        Self::per_connection([behaviour])
    }

    /// One behaviour for each connection, in the order they are accepted; when the list is used
    /// up, it begins again.
    ///
    /// # Panics
    /// When the list is empty.
    pub fn per_connection(list: impl IntoIterator<Item = Behaviour>) -> Self {
        Self::new(list, By::Connection)
    }

    /// One behaviour for each request, in the order they are read on all connections together;
    /// when the list is used up, it begins again. Behaviours that do not wait for a request
    /// happen at the beginning of a connection, when it is their turn.
    ///
    /// # Panics
    /// When the list is empty.
    pub fn per_request(list: impl IntoIterator<Item = Behaviour>) -> Self {
        Self::new(list, By::Request)
    }

    /// When the list is used up, always this.
    pub fn then(self, behaviour: Behaviour) -> Self {
        Self { then: Some(behaviour), ..self }
    }

    fn new(list: impl IntoIterator<Item = Behaviour>, by: By) -> Self {
        let list: Vec<_> = list.into_iter().collect();
        assert!(!list.is_empty(), "a script needs a behaviour");
        Self { list, by, then: None }
    }

    /// What comes, given the number of the connection and that of the turn, from 0. A turn is a
    /// request, or a connection that was dealt with before its first.
    pub(super) fn behaviour(&self, connection: u64, turn: u64) -> &Behaviour {
        let number = match self.by {
            By::Connection => connection,
            By::Request => turn,
        };
        match (usize::try_from(number).ok().and_then(|at| self.list.get(at)), &self.then) {
            (Some(behaviour), _) => behaviour,
            (None, Some(behaviour)) => behaviour,
            (None, None) => &self.list[(number % self.list.len() as u64) as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_again_or_end_in_one_behaviour() {
        let status = |number| Behaviour::Status(number);
        let again = Script::per_request([status(201), status(202)]);
        let seen: Vec<_> = (0..4).map(|request| again.behaviour(9, request)).collect();
        assert_eq!(seen, [&status(201), &status(202), &status(201), &status(202)]);
        let ends = Script::per_connection([status(201)]).then(status(500));
        let seen: Vec<_> = (0..3).map(|connection| ends.behaviour(connection, 0)).collect();
        assert_eq!(seen, [&status(201), &status(500), &status(500)]);
    }
}
