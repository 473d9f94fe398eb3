//! What requests are made of, piece by piece, as curl's users type it: `-F` and `--form-string`, `--body-json`, cookies,
//! `--compressed`.

use std::path::{Path, PathBuf};

use ablaze_load::planning::json_body::{self, Style};
use ablaze_load::planning::sources;
use ablaze_model::spec::{Blob, Bodies, Body, Bytes, CookiesSpec, FormField, Line, Secrets};
use ablaze_wire::multipart::argument::{self, Field, Source};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::{CommandError, values};

/// What requests are made of.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub struct BodyOptions {
    /// The fields of a form.
    #[command(flatten)]
    pub form: FormWords,
    /// Member of a JSON body: a=TEXT, a:=JSON, a.b=…, a[]=…. Repeatable
    #[arg(long, value_name = "MEMBER", conflicts_with_all = ["body", "body_lines", "form", "form_string"])]
    pub body_json: Vec<String>,
    /// Cookies: `a=b; c=d`, or a FILE in Netscape's format. Repeatable
    #[arg(long = "cookie", value_name = "COOKIES")]
    pub cookies: Vec<String>,
    /// Save what the first response set, and the cookies of --cookie FILE
    #[arg(long, value_name = "FILE")]
    pub cookie_jar: Option<PathBuf>,
    /// Ask for gzip, br or zstd; bodies are counted as they come
    #[arg(long, action = ArgAction::SetTrue)]
    pub compressed: bool,
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
        let others = [
            ("--body-json", !self.body_json.is_empty()),
            ("--cookie", !self.cookies.is_empty()),
            ("--cookie-jar", self.cookie_jar.is_some()),
            ("--compressed", self.compressed),
        ];
        let form = self.form.0.first().map(|(kind, _)| kind.name());
        form.or_else(|| others.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name))
    }

    /// The cookies that are asked for: what has a `=` is typed, everything else names a file.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn cookies(&self, secrets: &mut Secrets) -> Result<Option<CookiesSpec>, CommandError> {
        if self.cookies.is_empty() {
            return Ok(None);
        }
        let mut spec = CookiesSpec::default();
        for word in &self.cookies {
            if word.contains('=') {
                spec.typed.push(secrets.keep_text("cookie", word.as_str()));
                continue;
            }
            let text = sources::read(Path::new(word), "--cookie")?;
            let text = String::from_utf8(text).map_err(|_| {
                CommandError::usage(format!("the --cookie file `{word}` is not text (UTF-8)"))
            })?;
            let kept = secrets.keep_text(&format!("cookies of {word}"), text);
            spec.files.push((word.clone(), kept));
        }
        Ok(Some(spec))
    }

    /// Adds what `--compressed` asks for, unless a line says another.
    pub fn accept_encodings(&self, lines: &mut Vec<Line>) {
        let is_said = |line: &Line| {
            let Line::Text(Bytes(text)) = line else { return false };
            let name = text.split(|byte| *byte == b':').next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(b"Accept-Encoding")
        };
        if self.compressed && !lines.iter().any(is_said) {
            lines.push(Line::Text("Accept-Encoding: gzip, br, zstd".into()));
        }
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
            Arg::new(id).value_name("FIELD").action(ArgAction::Append).help(help)
        };
        let form = "Field of a form, as curl has it: a=TEXT, a=@FILE, a=<FILE. Repeatable";
        let string = "The same, but nothing in the value has a meaning. Repeatable";
        let others = ["body", "body_lines"];
        command
            .arg(field("form", form).short('F').long("form").conflicts_with_all(others))
            .arg(field("form_string", string).long("form-string").conflicts_with_all(others))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
