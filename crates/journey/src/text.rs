//! Text in queries, filters and predicates: mostly constant, now and then with variables.

use std::borrow::Cow;

use crate::template::Template;
use crate::variables::{Moment, Scope};

/// A template whose result is text.
#[derive(Debug, Clone)]
pub(crate) struct Text(pub Template);

impl Text {
    /// The text now.
    ///
    /// # Errors
    /// In words: a variable of it.
    pub fn get<'a>(&'a self, scope: &mut Scope<'_, impl Moment>) -> Result<Cow<'a, str>, String> {
        if let Some(constant) = self.0.as_constant() {
            return Ok(String::from_utf8_lossy(constant));
        }
        let mut out = Vec::new();
        let rendered = self.0.render(scope.variables, scope.moment, &mut out);
        rendered.map_err(|error| error.explain(scope.names))?;
        Ok(Cow::Owned(String::from_utf8_lossy(&out).into_owned()))
    }
}
