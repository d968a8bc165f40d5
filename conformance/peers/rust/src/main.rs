//! A small program on the wire, at each of its doors: a command line, a pipe and a socket.

mod address;
mod answer;
mod ask;
mod cbor;
mod child;
mod cli;
mod integer;
mod json;
mod limits;
mod message;
mod pipe;
mod queue;
mod reply;
mod server;
mod source;
mod stop;
mod sys;
mod talk;
mod unix;
mod value;
#[cfg(test)]
mod vectors;
mod verbs;

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;

use cli::{Line, Unmade};
use limits::Limits;
use message::Encoding;
use reply::Refusal;
use value::{quote, Value};
use verbs::{Context, Door};

/// Names the directory of the socket.
const PROGRAM: &str = "peer";

/// There was a reply, or a door to open, and it could not be done.
const UNDONE: u8 = 1;
/// There was no call to answer.
const NO_CALL: u8 = 2;

fn fail(status: u8, why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{PROGRAM}: {why}");
    ExitCode::from(status)
}

fn main() -> ExitCode {
    sys::keep_descriptors();
    let stdout = match sys::set_stdout_aside() {
        Ok(stdout) => stdout,
        Err(error) => return fail(UNDONE, &format!("cannot keep stdout: {error}")),
    };
    let line = match cli::parse(std::env::args_os().skip(1).collect()) {
        Ok(line) => line,
        Err(Unmade::Help) => return put(&stdout, cli::help().as_bytes()),
        Err(Unmade::NoCall(why)) => return fail(NO_CALL, &why),
    };
    match line.stream() {
        None => run(&line, &stdout),
        Some(door) => match open(door, &line, &stdout) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => fail(UNDONE, &why),
        },
    }
}

fn put(stdout: &OwnedFd, bytes: &[u8]) -> ExitCode {
    match pipe::write(stdout.as_raw_fd(), bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(UNDONE, &format!("cannot write to stdout: {error}")),
    }
}

/// One call, and its reply.
fn run(line: &Line, stdout: &OwnedFd) -> ExitCode {
    let verb = line.verb.as_deref().unwrap_or_default();
    let (limits, wrong) = match line.limits(Limits::process()) {
        Ok(limits) => (limits, None),
        Err(wrong) => (Limits::process(), Some(wrong)),
    };
    let args = match wrong {
        None => line.args(verb, &limits),
        Some(wrong) => Ok(Err(Refusal::refused(format!("{}: {wrong}", quote(verb))))),
    };
    let mut bytes = match args {
        Err(why) => return fail(NO_CALL, &why),
        Ok(Err(refusal)) => reply::write(Err(refusal), false, line.encoding, &limits),
        Ok(Ok(args)) => {
            if let Err(error) = stop::install() {
                return fail(UNDONE, &format!("cannot take signals: {error}"));
            }
            let context = Context {
                door: Door::Cli,
                caller: stdout.as_raw_fd(),
            };
            verbs::answer(&context, verb, args, line.encoding, &limits)
        }
    };
    if line.encoding == Encoding::Json {
        bytes.push(b'\n');
    }
    put(stdout, &bytes)
}

/// Serves at a door until the program has to end.
fn open(door: &str, line: &Line, stdout: &OwnedFd) -> Result<(), String> {
    line.check_stream(door)?;
    let tied = line.number("--tied")?;
    let fail = |error: io::Error| error.to_string();
    stop::install().map_err(fail)?;
    if let Some(pid) = tied {
        stop::tie(pid).map_err(|error| format!("cannot be tied to process {pid}: {error}"))?;
    }
    if door == "pipe" {
        return pipe::serve(stdout, &line.limits(Limits::process())?);
    }
    let config = server::Config {
        limits: line.limits(Limits::socket())?,
        connections: line.connections()?,
        stall: line.stall()?,
    };
    let place = address::listen(
        PROGRAM,
        line.text("--socket"),
        line.text("--instance").unwrap_or("main"),
    )?;
    let event = Value::Map(vec![
        ("event".to_owned(), Value::text("listening")),
        ("at".to_owned(), Value::text(place.path.to_string_lossy())),
    ]);
    let mut announced = Encoding::Json.write(&event);
    announced.push(b'\n');
    pipe::write(stdout.as_raw_fd(), &announced)
        .map_err(|error| format!("cannot write to stdout: {error}"))?;
    server::serve(&place, &config).map_err(fail)
}
