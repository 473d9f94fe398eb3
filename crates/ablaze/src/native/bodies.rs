//! The options that bodies are made of, piece by piece: `-F` and `--form-string` as curl has them, and `--body-json`.

use std::path::Path;

use ablaze_load::planning::json_body::{self, Style};
use ablaze_load::planning::sources;
use ablaze_model::spec::{Blob, Bodies, Body, FormField};
use ablaze_wire::multipart::argument::{self, Field, Source};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::{CommandError, values};

/// What bodies are made of.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub struct BodyOptions {
    /// The fields of a form.
    #[command(flatten)]
    pub form: FormWords,
    /// Member of a JSON body: name=TEXT or name:=JSON; a.b=…, a[]=…. Repeatable
    #[arg(long, value_name = "NAME=VALUE", conflicts_with_all = ["body", "body_lines", "form", "form_string"])]
    pub body_json: Vec<String>,
}

/// The values of `-F` and `--form-string`, in the order in which they were typed.
#[derive(Debug, Default)]
pub struct FormWords(Vec<(Kind, String)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `-F`
    Form,
    /// `--form-string`
    String,
}

impl BodyOptions {
    /// The bodies that are asked for.
    ///
    /// # Errors
    /// When a word cannot be read, or a file.
    pub fn bodies(&self) -> Result<Option<Bodies>, CommandError> {
        if !self.body_json.is_empty() {
            return self.json().map(|body| Some(Bodies::Same(body)));
        }
        if self.form.0.is_empty() {
            return Ok(None);
        }
        let mut fields = Vec::with_capacity(self.form.0.len());
        let mut stdin_taken = false;
        for (kind, word) in &self.form.0 {
            let read = match kind {
                Kind::Form => argument::form(word),
                Kind::String => argument::form_string(word),
            };
            let field =
                read.map_err(|why| CommandError::usage(format!("{}: {why}", kind.name())))?;
            if field.is_stdin() && std::mem::replace(&mut stdin_taken, true) {
                let text =
                    "-F: two fields are `-`, standard input, which can be read once: use a file";
                return Err(CommandError::usage(text));
            }
            fields.push(form_field(field)?);
        }
        Ok(Some(Bodies::Form(fields)))
    }

    fn json(&self) -> Result<Body, CommandError> {
        let mut read = |name: &str| {
            sources::read(Path::new(name), "--body-json").map_err(|error| error.to_string())
        };
        match json_body::body(&self.body_json, Style::Native, &mut read) {
            Ok(body) => Ok(Body::Given(body.as_str().into())),
            Err(why) => Err(CommandError::usage(format!("--body-json: {why}"))),
        }
    }

    /// What was typed.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        let form = self.form.0.iter().map(|(_, word)| word);
        form.chain(&self.body_json).map(String::as_str)
    }

    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        let json = (!self.body_json.is_empty()).then_some("--body-json");
        json.or_else(|| self.form.0.first().map(|(kind, _)| kind.name()))
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Form => "-F",
            Self::String => "--form-string",
        }
    }
}

fn form_field(field: Field) -> Result<FormField, CommandError> {
    let filename = field.filename().map(str::to_owned);
    let content_type = field.sent_type().map(str::to_owned);
    let content = match &field.source {
        Source::Text(text) => Body::Given(text.as_str().into()),
        Source::File(_) | Source::TextOf(_) if field.is_stdin() => {
            Body::File(Blob::new("-", values::standard_input("-F")?))
        }
        Source::File(path) | Source::TextOf(path) => {
            Body::File(sources::file(Path::new(path), "-F")?)
        }
    };
    Ok(FormField { name: field.name, content, filename, content_type })
}

impl FromArgMatches for FormWords {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut words = Vec::new();
        for (id, kind) in [("form", Kind::Form), ("form_string", Kind::String)] {
            let given = matches.get_many::<String>(id).into_iter().flatten();
            let places = matches.indices_of(id).into_iter().flatten();
            words.extend(places.zip(given).map(|(place, word)| (place, kind, word.clone())));
        }
        words.sort_by_key(|(place, ..)| *place);
        Ok(Self(words.into_iter().map(|(_, kind, word)| (kind, word)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}

impl Args for FormWords {
    fn augment_args(command: Command) -> Command {
        let field = |id: &'static str, help: &'static str| {
            Arg::new(id).value_name("NAME=VALUE").action(ArgAction::Append).help(help)
        };
        let form =
            "Field of a form: NAME=VALUE, NAME=@FILE, NAME=<FILE, as curl has it. Repeatable";
        let string = "The same, with a value in which nothing has a meaning. Repeatable";
        let others = ["body", "body_lines"];
        command
            .arg(field("form", form).short('F').long("form").conflicts_with_all(others))
            .arg(field("form_string", string).long("form-string").conflicts_with_all(others))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
