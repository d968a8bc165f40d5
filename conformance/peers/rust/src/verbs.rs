//! The verbs of this program, one table behind every door, and how a call is answered.

use std::os::fd::RawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::ask;
use crate::limits::Limits;
use crate::message::Encoding;
use crate::reply::{self, Answer, Refusal};
use crate::value::{quote, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Door {
    Cli,
    Pipe,
    Socket,
}

impl Door {
    const ALL: [Door; 3] = [Door::Cli, Door::Pipe, Door::Socket];

    fn name(self) -> &'static str {
        match self {
            Door::Cli => "cli",
            Door::Pipe => "pipe",
            Door::Socket => "socket",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    Text,
    Any,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Any => "any",
        }
    }
}

pub struct Param {
    pub name: &'static str,
    pub takes: Type,
    /// Repeats, from not at all to any number. Only the last may.
    pub rest: bool,
}

/// What a verb learns of its call beside the arguments.
pub struct Context {
    pub door: Door,
    /// Where the reply goes. Nobody is there any more once it has hung up (CLIENT-7).
    pub caller: RawFd,
}

enum Run {
    Answer(fn(&Context, Vec<Value>) -> Answer),
    /// A door: it answers with a stream, at the cli alone (VERBS-2).
    Stream,
}

pub struct Verb {
    pub name: &'static str,
    about: &'static str,
    params: &'static [Param],
    run: Run,
}

const VALUES: Param = Param {
    name: "value",
    takes: Type::Any,
    rest: true,
};

static VERBS: [Verb; 6] = [
    Verb {
        name: "echo",
        about: "the arguments back, a row each",
        params: &[VALUES],
        run: Run::Answer(|_, args| Ok(args)),
    },
    Verb {
        name: "ask",
        about: "the rows of a verb of the program at argv:PROG, pipe:PROG or unix:PATH",
        params: &[
            Param {
                name: "target",
                takes: Type::Text,
                rest: false,
            },
            Param {
                name: "verb",
                takes: Type::Text,
                rest: false,
            },
            VALUES,
        ],
        run: Run::Answer(ask::run),
    },
    Verb {
        name: "verbs",
        about: "what this program answers, a row for each verb and door",
        params: &[],
        run: Run::Answer(|_, _| Ok(rows())),
    },
    Verb {
        name: "client",
        about: "refused, since this program has no client library",
        params: &[],
        run: Run::Answer(|_, _| {
            Err(Refusal::refused(
                "client: this program has no client library",
            ))
        }),
    },
    Verb {
        name: "serve",
        about: "answers on a socket until told to end",
        params: &[],
        run: Run::Stream,
    },
    Verb {
        name: "pipe",
        about: "answers on stdin and stdout until stdin ends",
        params: &[],
        run: Run::Stream,
    },
];

impl Verb {
    fn at(&self, door: Door) -> bool {
        door == Door::Cli || matches!(self.run, Run::Answer(_))
    }

    pub fn is_stream(&self) -> bool {
        matches!(self.run, Run::Stream)
    }

    /// The parameter for the argument at a position; `None`: it is one too many.
    pub fn param(&self, position: usize) -> Option<&'static Param> {
        let last = self.params.last().filter(|param| param.rest);
        self.params.get(position).or(last)
    }

    /// What the verb takes, for people.
    pub fn usage(&self) -> String {
        let params = self.params.iter().map(|param| {
            let name = param.name.to_uppercase();
            if param.rest {
                format!(" [{name}...]")
            } else {
                format!(" {name}")
            }
        });
        format!(
            "{}{}\n      {}",
            self.name,
            params.collect::<String>(),
            self.about
        )
    }

    fn check(&self, args: &[Value]) -> Result<(), Refusal> {
        for (position, arg) in args.iter().enumerate() {
            let came = quote(&String::from_utf8_lossy(&Encoding::Json.write(arg)));
            let Some(param) = self.param(position) else {
                let text = format!(
                    "{}: takes {} arguments, and {came} is one more",
                    self.name,
                    self.params.len()
                );
                return Err(Refusal::refused(text));
            };
            if param.takes == Type::Text && !matches!(arg, Value::Text(_)) {
                let text = format!(
                    "{}: {} is {came}, and a text is taken",
                    self.name, param.name
                );
                return Err(Refusal::refused(text));
            }
        }
        match self.params.get(args.len()).filter(|param| !param.rest) {
            None => Ok(()),
            Some(missing) => {
                let what = missing.takes.name();
                let text = format!(
                    "{}: {} is missing, and a {what} is taken",
                    self.name, missing.name
                );
                Err(Refusal::refused(text))
            }
        }
    }

    fn row(&self, door: Door) -> Value {
        let pair = |name: &str, value| (name.to_owned(), value);
        let mut members = vec![
            pair("verb", Value::text(self.name)),
            pair("about", Value::text(self.about)),
            pair("door", Value::text(door.name())),
        ];
        let params = self.params.iter().map(|param| {
            let mut declared = vec![
                pair("name", Value::text(param.name)),
                pair("type", Value::text(param.takes.name())),
            ];
            if param.rest {
                declared.push(pair("rest", Value::Bool(true)));
            }
            Value::Map(declared)
        });
        if !self.params.is_empty() {
            members.push(pair("args", Value::List(params.collect())));
        }
        Value::Map(members)
    }
}

fn rows() -> Vec<Value> {
    let of = |door| {
        VERBS
            .iter()
            .filter(move |verb| verb.at(door))
            .map(move |verb| verb.row(door))
    };
    Door::ALL.into_iter().flat_map(of).collect()
}

pub fn all() -> &'static [Verb] {
    &VERBS
}

pub fn find(door: Door, name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name && verb.at(door))
}

/// The bytes of the reply to a call.
pub fn answer(
    context: &Context,
    verb: &str,
    args: Vec<Value>,
    encoding: Encoding,
    limits: &Limits,
) -> Vec<u8> {
    let answer = run(context, verb, args);
    let surface = verb == "verbs" && answer.is_ok();
    reply::write(answer, surface, encoding, limits)
}

fn run(context: &Context, name: &str, args: Vec<Value>) -> Answer {
    let Some(verb) = find(context.door, name) else {
        return Err(Refusal::refused(format!("no such call: {}", quote(name))));
    };
    verb.check(&args)?;
    match verb.run {
        Run::Answer(run) => {
            catch_unwind(AssertUnwindSafe(|| run(context, args))).unwrap_or_else(|_| {
                Err(Refusal::failed(format!(
                    "{name}: a panic in the code of this verb"
                )))
            })
        }
        Run::Stream => Err(Refusal::refused(format!(
            "{name}: answers with a stream, and not here"
        ))),
    }
}
