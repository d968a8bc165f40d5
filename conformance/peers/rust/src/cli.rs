//! The command line: what its words mean (ARGV-3), and its one reply (ARGV-1).

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::str::FromStr;
use std::time::Duration;

use crate::json;
use crate::limits::{Limits, CONNECTIONS, DEEPEST, STALL};
use crate::message::{self, Encoding};
use crate::reply::Refusal;
use crate::value::{quote, Value};
use crate::verbs::{self, Door, Param, Type};

/// Why there is no line to go by.
#[derive(Debug, PartialEq)]
pub enum Unmade {
    Help,
    /// There is no call to answer, and why.
    NoCall(String),
}

/// Flags that take a value, and the doors that know them; none: every verb does.
const VALUED: [(&str, &[&str]); 10] = [
    ("--args", &[]),
    ("--cap", &[]),
    ("--depth", &[]),
    ("--items", &[]),
    ("--intbits", &[]),
    ("--tied", &["serve", "pipe"]),
    ("--socket", &["serve"]),
    ("--instance", &["serve"]),
    ("--limit", &["serve"]),
    ("--stall", &["serve"]),
];

/// The words of a run, in order.
pub struct Line {
    pub encoding: Encoding,
    pub verb: Option<String>,
    words: Vec<String>,
    flags: HashMap<&'static str, String>,
    /// What is wrong with the words, though not so wrong that there is no call.
    wrong: Option<String>,
}

pub fn parse(words: Vec<OsString>) -> Result<Line, Unmade> {
    let help = |word: &&OsString| **word == "--help" || **word == "-h";
    if words
        .iter()
        .take_while(|word| **word != "--")
        .any(|word| help(&word))
    {
        return Err(Unmade::Help);
    }
    let mut line = Line {
        encoding: Encoding::Json,
        verb: None,
        words: vec![],
        flags: HashMap::new(),
        wrong: None,
    };
    let mut words = words.into_iter();
    let mut flags = true;
    while let Some(word) = words.next() {
        let word = word.into_string().unwrap_or_else(|word| {
            let shown = quote(&word.to_string_lossy());
            line.complain(format!("the word {shown} is no valid UTF-8"));
            shown
        });
        if flags && word == "--" {
            flags = false;
        } else if flags && is_flag(&word) {
            line.flag(&word, &mut words)?;
        } else if line.verb.is_none() {
            line.verb = Some(word);
        } else {
            line.words.push(word);
        }
    }
    match line.verb.as_deref() {
        Some("help") if line.wrong.is_none() => Err(Unmade::Help),
        Some(_) => Ok(line),
        None => Err(Unmade::NoCall(
            "there is no verb; --help tells more".to_owned(),
        )),
    }
}

fn is_flag(word: &str) -> bool {
    let number = || {
        matches!(
            json::read(word.as_bytes(), &Limits::process()),
            Ok(Value::Integer(_) | Value::Float(_))
        )
    };
    word.len() > 1 && word.starts_with('-') && !number()
}

impl Line {
    fn complain(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    fn flag(
        &mut self,
        word: &str,
        words: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), Unmade> {
        match word {
            "--json" => self.encoding = Encoding::Json,
            "--cbor" => self.encoding = Encoding::Cbor,
            _ => {
                let (name, joined) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (word, None),
                };
                let Some((name, _)) = VALUED.iter().find(|(known, _)| *known == name) else {
                    self.complain(format!("there is no flag {}", quote(word)));
                    return Ok(());
                };
                let value = match joined {
                    Some(value) => Ok(value),
                    None => words
                        .next()
                        .ok_or_else(|| Unmade::NoCall(format!("{name} has no value")))?
                        .into_string(),
                };
                match value {
                    Ok(value) if !self.flags.contains_key(name) => {
                        drop(self.flags.insert(name, value))
                    }
                    Ok(_) => self.complain(format!("{name} is there twice")),
                    Err(value) => self.complain(format!(
                        "{name} {} is no valid UTF-8",
                        quote(&value.to_string_lossy())
                    )),
                }
            }
        }
        Ok(())
    }

    /// What is wrong with the line itself, whatever its verb makes of it.
    fn check(&self, verb: &str) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(format!("{}: {wrong}", quote(verb)));
        }
        let stranger = VALUED.iter().find(|(name, doors)| {
            self.flags.contains_key(name) && !doors.is_empty() && !doors.contains(&verb)
        });
        match stranger {
            Some((name, _)) => Err(format!("{}: there is no flag {name}", quote(verb))),
            None => Ok(()),
        }
    }

    /// The door that this line opens.
    pub fn stream(&self) -> Option<&str> {
        let verb = verbs::find(Door::Cli, self.verb.as_deref()?)?;
        verb.is_stream().then_some(verb.name)
    }

    /// Whether a door can be opened with what stands beside its name.
    pub fn check_stream(&self, verb: &str) -> Result<(), String> {
        self.check(verb)?;
        match self.words.first() {
            Some(word) => Err(format!(
                "{verb} takes no arguments, and there is {}",
                quote(word)
            )),
            None if self.flags.contains_key("--args") => Err(format!("{verb} takes no --args")),
            None => Ok(()),
        }
    }

    pub fn text(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag).map(String::as_str)
    }

    /// The value of a flag as a number above 0.
    pub fn number<T: FromStr + PartialOrd + Default>(
        &self,
        flag: &str,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.text(flag) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| *number > T::default());
        number.map(Some).ok_or_else(|| {
            format!(
                "{flag} is {}, and a whole number from 1 is taken",
                quote(text)
            )
        })
    }

    /// The limits, as the options change them (ENC-5, LIMIT-1).
    pub fn limits(&self, default: Limits) -> Result<Limits, String> {
        let depth = self.number("--depth")?.unwrap_or(default.depth);
        if depth > DEEPEST {
            return Err(format!(
                "--depth is {depth}, and at most {DEEPEST} is taken"
            ));
        }
        Ok(Limits {
            depth,
            frame: self.number("--cap")?.unwrap_or(default.frame),
            items: self.number("--items")?.unwrap_or(default.items),
            intbits: self.number("--intbits")?.unwrap_or(default.intbits),
        })
    }

    pub fn connections(&self) -> Result<usize, String> {
        Ok(self.number("--limit")?.unwrap_or(CONNECTIONS))
    }

    /// Such as 200ms, or 30s, or 30.
    pub fn stall(&self) -> Result<Duration, String> {
        let Some(text) = self.text("--stall") else {
            return Ok(STALL);
        };
        let (number, unit) = match text.strip_suffix("ms") {
            Some(number) => (number, 1),
            None => (text.strip_suffix('s').unwrap_or(text), 1000),
        };
        let number: Option<u32> = number.parse().ok().filter(|number| *number > 0);
        let time = number.map(|number| Duration::from_millis(u64::from(number) * unit));
        time.ok_or_else(|| {
            format!(
                "--stall is {}, and a time such as 200ms or 30s is taken",
                quote(text)
            )
        })
    }

    /// The arguments of the call, or why it is refused. `Err`: there is no call to answer.
    pub fn args(&self, verb: &str, limits: &Limits) -> Result<Result<Vec<Value>, Refusal>, String> {
        let refused = |text: String| Ok(Err(Refusal::refused(text)));
        if let Err(wrong) = self.check(verb) {
            return refused(wrong);
        }
        match (self.text("--args"), self.words.first()) {
            (Some(_), Some(word)) => {
                let (verb, word) = (quote(verb), quote(word));
                refused(format!(
                    "{verb}: there is --args, and beside it the word {word}"
                ))
            }
            (Some(args), None) => listed(args, limits)
                .map(Ok)
                .map_err(|why| format!("--args: {why}")),
            (None, _) => Ok(self.typed(verb, limits)),
        }
    }

    /// The words, each as the type that its parameter is declared with.
    fn typed(&self, verb: &str, limits: &Limits) -> Result<Vec<Value>, Refusal> {
        let param = |position| verbs::find(Door::Cli, verb).and_then(|verb| verb.param(position));
        let value = |(position, word): (usize, &String)| match param(position) {
            Some(Param {
                name,
                takes: Type::Any,
                ..
            }) => message::read_json(word.as_bytes(), limits).map_err(|why| {
                let word = quote(word);
                Refusal::refused(format!(
                    "{verb}: {name} is {word}, and a value in JSON is taken: {why}"
                ))
            }),
            _ => Ok(Value::text(word)),
        };
        self.words.iter().enumerate().map(value).collect()
    }
}

fn listed(args: &str, limits: &Limits) -> Result<Vec<Value>, String> {
    let value = if args == "-" {
        let mut bytes = Vec::new();
        let most = limits.frame as u64 + 1;
        io::stdin()
            .lock()
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        fits(bytes.len(), limits)?;
        message::read_value(&bytes, limits).1?
    } else {
        fits(args.len(), limits)?;
        message::read_json(args.as_bytes(), limits)?
    };
    match value {
        Value::List(args) => Ok(args),
        _ => Err("it is no list".to_owned()),
    }
}

fn fits(length: usize, limits: &Limits) -> Result<(), String> {
    if length > limits.frame {
        return Err(format!(
            "it has {length} bytes or more, and the cap is {}",
            limits.frame
        ));
    }
    Ok(())
}

/// Text for people.
pub fn help() -> String {
    let verbs: Vec<String> = verbs::all()
        .iter()
        .map(|verb| format!("  {}\n", verb.usage()))
        .collect();
    format!(
        "usage: peer [FLAG...] VERB [WORD...]\n\n{}\n\
         flags, before -- or anywhere where there is none:\n  \
           --json, --cbor       how the reply is written\n  \
           --args JSON|-        all arguments as one list; - reads it from stdin\n  \
           --cap BYTES          of a message; --depth, --items and --intbits are the limits of a reader\n  \
           --socket PATH        where serve listens; or --instance NAME, at the usual place\n  \
           --limit N            connections of serve; --stall TIME, for a frame that does not end\n  \
           --tied PID           serve or pipe until that process ends\n",
        verbs.concat()
    )
}
