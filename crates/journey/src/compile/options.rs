//! `[Options]` of a step.

use super::Compiler;
use crate::journey::{Setting, StepOptions};
use crate::syntax::{EntryOption, OptionValue, TimeUnit, VariableValue};
use crate::value::Value;

/// What `[Options]` adds to the request itself.
#[derive(Default)]
pub(super) struct FromOptions<'a> {
    pub options: StepOptions,
    /// `header: name: value`
    pub headers: Vec<&'a crate::syntax::Template>,
    /// `user: name:password`
    pub user: Option<&'a crate::syntax::Template>,
}

impl Compiler {
    pub(super) fn options<'a>(&mut self, options: &'a [EntryOption]) -> FromOptions<'a> {
        let mut from = FromOptions::default();
        for option in options {
            self.option(option, &mut from);
        }
        from
    }

    fn option<'a>(&mut self, option: &'a EntryOption, from: &mut FromOptions<'a>) {
        let own = &mut from.options;
        match (option.name, &option.value) {
            (name, OptionValue::Placeholder(_)) => {
                self.refuse(
                    option.at,
                    format!("a variable as the value of the option {name} is not supported"),
                );
            }
            ("delay", value) => own.delay_ns = self.duration(option, value),
            ("retry-interval", value) => own.retry_interval_ns = self.duration(option, value),
            ("retry", OptionValue::Count(count)) => own.retry = Some(*count),
            ("repeat", OptionValue::Count(count)) => own.repeat = Some(*count),
            ("max-redirs", OptionValue::Count(count)) => own.max_redirects = Some(*count),
            ("location", OptionValue::Boolean(value)) => own.location = Some(*value),
            ("location-trusted", OptionValue::Boolean(value)) => {
                // As in Hurl, it is `location` and more; the later of the two counts.
                own.location = if *value { Some(true) } else { own.location };
                own.location_trusted = Some(*value);
            }
            ("compressed", OptionValue::Boolean(value)) => own.compressed = Some(*value),
            ("skip", OptionValue::Boolean(value)) => own.skip = Some(*value),
            ("header", OptionValue::Text(header)) => from.headers.push(header),
            ("user", OptionValue::Text(user)) => from.user = Some(user),
            ("variable", OptionValue::Variable(name, value)) => {
                let setting = self.setting(value);
                own.variables.push((self.sets(name), setting));
            }
            // They change what hurl prints, and nothing else.
            ("verbose" | "very-verbose" | "verbosity", _) => {}
            (name, _) => self.refuse(option.at, error(name)),
        }
    }

    fn setting(&mut self, value: &VariableValue) -> Setting {
        match value {
            VariableValue::Null => Setting::Value(Value::Null),
            VariableValue::Boolean(value) => Setting::Value(Value::Boolean(*value)),
            VariableValue::Number(number) => Setting::Value(Value::Number(number.clone())),
            VariableValue::Text(text) => Setting::Text(self.plain(text)),
        }
    }

    /// In ns; a number without a unit counts milliseconds.
    fn duration(&mut self, option: &EntryOption, value: &OptionValue) -> Option<u64> {
        let OptionValue::Duration(count, unit) = value else { return None };
        let unit_ns = match unit {
            None | Some(TimeUnit::Milliseconds) => 1_000_000,
            Some(TimeUnit::Seconds) => 1_000_000_000,
            Some(TimeUnit::Minutes) => 60_000_000_000,
            Some(TimeUnit::Hours) => 3_600_000_000_000,
        };
        let duration = count.checked_mul(unit_ns);
        if duration.is_none() {
            self.refuse(option.at, format!("{} is longer than 500 years", option.name));
        }
        duration
    }
}

/// Why an option is refused, and what does the same where there is something.
fn error(name: &str) -> String {
    let why = match name {
        "cert" | "key" => {
            "client certificates per entry are not supported (fix: --cert and --key for the run)"
        }
        "cacert" | "insecure" | "pinnedpubkey" | "tls-min" | "tls-max" => {
            "what is trusted is given for the whole run (fix: --cacert or --insecure)"
        }
        "http1.0" | "http1.1" | "http2" | "http2-prior-knowledge" | "http3" => {
            "the version is given for the whole run (fix: --http)"
        }
        "max-time" | "connect-timeout" => "the timeout is given for the whole run (fix: --timeout)",
        "connect-to" | "resolve" => "it is given for the whole run (fix: --connect-to)",
        "unix-socket" => "it is given for the whole run (fix: --unix-socket)",
        "proxy" => "it is given for the whole run (fix: --proxy)",
        _ => "it is not supported",
    };
    format!("the option {name}: {why}")
}
