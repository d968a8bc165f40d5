//! A server and a client of the daemon wire, for other implementations to be
//! tried against.

use std::ffi::OsString;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use client::Failure;

mod client;
mod connection;
mod gates;
mod inflight;
mod lifecycle;
mod methods;
mod outbox;
mod protocol;
mod server;

const USAGE: &str = "usage:
  daemon-peer serve PATH [--idle MILLISECONDS]
  daemon-peer call PATH METHOD [PARAMS-JSON]
  daemon-peer burst PATH METHOD N
  daemon-peer upgrade PATH METHOD";

/// How long a connection may take to send a whole request, in milliseconds.
const IDLE_MILLISECONDS: &str = "30000";

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return exit(Err(error.into())),
    };
    let outcome = runtime.block_on(run(std::env::args_os().skip(1)));
    // Not dropped: a blocked read of stdin would hold the exit up.
    runtime.shutdown_background();
    exit(outcome)
}

async fn run(args: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let args: Result<Vec<String>, OsString> = args.map(OsString::into_string).collect();
    let args = args.map_err(|arg| usage(format!("{}: not UTF-8", arg.display())))?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve", path] => serve(path, IDLE_MILLISECONDS).await,
        ["serve", path, "--idle", idle] | ["serve", "--idle", idle, path] => {
            serve(path, idle).await
        }
        ["call", path, method] => client::call(path, method, protocol::no_params()).await,
        ["call", path, method, params] => {
            let params = serde_json::from_str(params)
                .map_err(|error| usage(format!("PARAMS-JSON: {error}")))?;
            client::call(path, method, params).await
        }
        ["burst", path, method, count] => client::burst(path, method, number("N", count)?).await,
        ["upgrade", path, method] => client::upgrade(path, method).await,
        _ => Err(usage("unknown arguments")),
    }
}

async fn serve(path: &str, idle: &str) -> Result<(), Failure> {
    let idle: NonZeroU64 = number("MILLISECONDS", idle)?;
    server::serve(path, Duration::from_millis(idle.get()))
        .await
        .map_err(|error| Failure::Other(format!("{path}: {error}")))
}

fn number<T: FromStr<Err = std::num::ParseIntError>>(name: &str, text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error| usage(format!("{name}: {error}")))
}

fn usage(why: impl std::fmt::Display) -> Failure {
    Failure::Other(format!("{why}\n{USAGE}"))
}

fn exit(outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    // A closed stderr must not change the exit code, as a panic would.
    let _ = writeln!(std::io::stderr(), "daemon-peer: {failure}");
    ExitCode::from(failure.exit_code())
}
