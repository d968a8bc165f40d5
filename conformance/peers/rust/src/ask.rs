//! The verb that calls a verb of another program, at any of its doors.

use std::ffi::OsStr;
use std::io;
use std::time::Instant;

use crate::limits::{Limits, CALL, CALL_ENDING, DIAL};
use crate::message::{self, Encoding, Message};
use crate::reply::{self, Answer, Fault, Refusal};
use crate::stop;
use crate::talk::{Link, Step, Talk};
use crate::value::{quote, Value};
use crate::verbs::Context;
use crate::{child::Child, unix};

pub fn run(context: &Context, args: Vec<Value>) -> Answer {
    let mut args = args.into_iter();
    let (Some(Value::Text(target)), Some(Value::Text(verb))) = (args.next(), args.next()) else {
        return Err(Refusal::refused("ask: target and verb are texts")); // as checked before
    };
    if verb.is_empty() {
        return Err(Refusal::refused(
            "ask: verb is empty, and the name of a verb is taken",
        ));
    }
    if stop::deadline(CALL_ENDING).is_some_and(|deadline| deadline <= Instant::now()) {
        return Err(Refusal::failed("ask: this program is ending"));
    }
    let args: Vec<Value> = args.collect();
    let named = quote(&target);
    match target.split_once(':') {
        Some(("argv", program)) => run_once(context, &named, program, &verb, args),
        Some(("pipe", program)) => call(context, &named, verb, args, &Limits::process(), || {
            Child::start(program, &["pipe"]).map(Link::Child)
        }),
        Some(("unix", path)) => call(context, &named, verb, args, &Limits::socket(), || {
            unix::connect(OsStr::new(path), DIAL).map(Link::Socket)
        }),
        _ => Err(Refusal::refused(format!(
            "ask: target is {named}, and argv:PROG, pipe:PROG or unix:PATH is taken"
        ))),
    }
}

/// What the target said is passed on as it came, and what was concluded on this side names the
/// target. Our own caller sent nothing malformed, so that is a failure to it (FAULT-1).
fn finish(target: &str, outcome: Result<Answer, Refusal>) -> Answer {
    let concluded = |refusal: Refusal| Refusal {
        text: format!("ask: {target}: {}", refusal.text),
        ..refusal
    };
    let answer = outcome.unwrap_or_else(|refusal| Err(concluded(refusal)));
    answer.map_err(|refusal| match refusal.fault {
        Fault::Malformed => Refusal {
            fault: Fault::Failed,
            ..refusal
        },
        _ => refusal,
    })
}

fn not_there(error: &io::Error) -> Refusal {
    Refusal::unavailable(match error.kind() {
        io::ErrorKind::WouldBlock => "nobody took the connection in time".to_owned(),
        _ => format!("nobody is there: {error}"),
    })
}

fn bytes_of(value: &Value, limits: &Limits) -> Result<Vec<u8>, Refusal> {
    if let Some(over) = value.over(limits) {
        return Err(Refusal::failed(format!(
            "the call cannot be written: {over}"
        )));
    }
    let bytes = Encoding::Json.write(value);
    if bytes.len() > limits.frame {
        let text = format!(
            "the call is {} bytes long, and the cap is {}",
            bytes.len(),
            limits.frame
        );
        return Err(Refusal::failed(text));
    }
    Ok(bytes)
}

/// A call on a pipe or a socket, on a connection of its own.
fn call(
    context: &Context,
    target: &str,
    verb: String,
    args: Vec<Value>,
    limits: &Limits,
    open: impl FnOnce() -> io::Result<Link>,
) -> Answer {
    let call = Value::Map(vec![
        ("call".to_owned(), Value::Text(verb)),
        ("args".to_owned(), Value::List(args)),
        // It is made while this program answers a call (CLIENT-6).
        ("within".to_owned(), Value::Bool(true)),
    ]);
    let deadline = Instant::now() + CALL;
    let conversation = || {
        let bytes = bytes_of(&call, limits)?;
        let mut talk = Talk::new(
            open().map_err(|error| not_there(&error))?,
            context.caller,
            deadline,
        );
        talk.send(&bytes);
        loop {
            while let Some(bytes) = talk.next(limits.frame)? {
                if let Some(answer) = take(&mut talk, &bytes, target, limits)? {
                    return Ok(answer);
                }
            }
            if let Step::End = talk.step()? {
                return Err(Refusal::unavailable(talk.lost()));
            }
        }
    };
    finish(target, conversation())
}

/// Takes one message that came while our call waits. `None`: it was not the reply.
fn take(
    talk: &mut Talk,
    bytes: &[u8],
    target: &str,
    limits: &Limits,
) -> Result<Option<Answer>, Refusal> {
    let (encoding, message) = match talk.link {
        Link::Child(_) => (Encoding::Json, message::read_line(bytes, limits)),
        Link::Socket(_) => message::read(bytes, limits),
    };
    match message {
        Message::Event => Ok(None),
        Message::Call { verb, within, .. } => {
            let refusal = Refusal::refused(format!("no such call: {}", quote(&verb)));
            talk.send(&reply::write(Err(refusal), false, encoding, limits));
            if talk.unsent() > 2 * limits.frame {
                return Err(Refusal::unavailable("it makes calls and takes no answers"));
            }
            if within {
                return Err(Refusal::refused("a call that would wait for itself"));
            }
            Ok(None)
        }
        Message::Reply(members) => match reply::read(members, target) {
            Ok(Ok(_)) if !talk.all_sent() => {
                Err(Refusal::malformed("a reply came before the call was sent"))
            }
            Ok(answer) => Ok(Some(answer)),
            Err(why) => Err(Refusal::malformed(format!(
                "no reply that can be taken: {why}"
            ))),
        },
        Message::Malformed(why) => Err(Refusal::malformed(format!(
            "an unreadable message came: {why}"
        ))),
    }
}

/// A run of a command line for the one call. The arguments go in by stdin: a word has less room.
fn run_once(
    context: &Context,
    target: &str,
    program: &str,
    verb: &str,
    args: Vec<Value>,
) -> Answer {
    if verb.starts_with('-') || verb == "help" {
        return Err(Refusal::refused(format!(
            "ask: verb is {}, and no command line has it",
            quote(verb)
        )));
    }
    let limits = Limits::process();
    let deadline = Instant::now() + CALL;
    let conversation = || {
        let with_args = !args.is_empty();
        let bytes = bytes_of(&Value::List(args), &limits)?;
        let words = ["--json", verb, "--args", "-"];
        let words = if with_args { &words[..] } else { &words[..2] };
        let child = Child::start(program, words).map_err(|error| not_there(&error))?;
        let mut talk = Talk::new(Link::Child(child), context.caller, deadline);
        talk.send_all(if with_args { &bytes } else { b"" });
        while let Step::Moved = talk.step()? {
            talk.fits(limits.frame)?;
        }
        let written = talk.rest();
        if written.trim_ascii().is_empty() {
            return Err(Refusal::unavailable(format!("no reply: {}", talk.lost())));
        }
        match message::read(&written, &limits).1 {
            Message::Reply(members) => reply::read(members, target)
                .map_err(|why| Refusal::malformed(format!("no reply that can be taken: {why}"))),
            Message::Malformed(why) => Err(Refusal::malformed(format!(
                "what it wrote is no reply: {why}"
            ))),
            _ => Err(Refusal::malformed("what it wrote is no reply")),
        }
    };
    finish(target, conversation())
}
