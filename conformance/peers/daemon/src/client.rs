//! The client: one call, many calls at once, or an upgraded stream.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write as _};
use std::pin::pin;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, copy, stdin, stdout};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::protocol::{
    ProtocolError, Request, Response, RpcError, encode, no_params, parse, read_frame,
};

/// The id of a request that is alone on its connection.
const ONLY_ID: u64 = 1;

/// The id of an error about a frame that the daemon could not read.
const NO_ID: u64 = 0;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The response is an error.
    Error(RpcError),
    /// Anything else: there is no response, or none that the wire allows, or
    /// the command could not even be started.
    Other(String),
}

impl Failure {
    /// The code that the process exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Error(_) => 1,
            Self::Other(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<ProtocolError> for Failure {
    fn from(error: ProtocolError) -> Self {
        Self::Other(error.to_string())
    }
}

/// Calls once and prints the response as it came.
pub async fn call(path: &str, method: &str, params: Box<RawValue>) -> Result<(), Failure> {
    let (mut reader, mut writer) = connect(path).await?;
    let frame = request(ONLY_ID, method, params)?;
    let body = {
        let mut reading = pin!(read_frame(&mut reader));
        tokio::select! {
            // A daemon may refuse what it has not read to its end.
            body = &mut reading => body,
            () = send(&mut writer, &frame) => reading.await,
        }?
    };
    let result = result_of(parse(&body)?, |id| id == ONLY_ID);
    if !matches!(result, Err(Failure::Other(_))) {
        print_line(body)?;
    }
    result.map(drop)
}

/// Makes `count` calls at once on one connection, and checks that each comes
/// back with its own params.
pub async fn burst(path: &str, method: &str, count: u64) -> Result<(), Failure> {
    let (mut reader, mut writer) = connect(path).await?;
    // At the same time: with neither side reading, both would come to a stop.
    let sending = async {
        for i in 0..count {
            let params = to_raw_value(&burst_params(i)).expect("it is JSON");
            send(&mut writer, &request(burst_id(i), method, params)?).await;
        }
        Ok(())
    };
    tokio::try_join!(sending, collect(&mut reader, count))?;
    print_line(json!({ "answered": count }).to_string().into_bytes())
}

/// Upgrades the connection, sends stdin on and prints what comes back, until
/// both have ended.
pub async fn upgrade(path: &str, method: &str) -> Result<(), Failure> {
    let (mut reader, mut writer) = connect(path).await?;
    send(&mut writer, &request(ONLY_ID, method, no_params())?).await;
    let response = parse(&read_frame(&mut reader).await?)?;
    result_of(response, |id| id == ONLY_ID)?;
    let sending = async {
        copy(&mut stdin(), &mut writer).await?;
        writer.shutdown().await
    };
    let printing = async {
        let mut stdout = stdout();
        copy(&mut reader, &mut stdout).await?;
        stdout.flush().await
    };
    // A daemon that takes no more may still have something to say.
    let (sent, ()) = tokio::try_join!(async { Ok(sending.await) }, printing)?;
    Ok(sent?)
}

async fn connect(path: &str) -> Result<(OwnedReadHalf, OwnedWriteHalf), Failure> {
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(stream.into_split()),
        Err(error) => Err(Failure::Other(format!("{path}: {error}"))),
    }
}

fn request(id: u64, method: &str, params: Box<RawValue>) -> Result<Vec<u8>, ProtocolError> {
    let method = method.to_owned();
    encode(&Request { id, method, params })
}

/// Sends a frame. That the daemon does not take it is no failure yet: it may
/// have answered already, and closed.
async fn send(writer: &mut OwnedWriteHalf, frame: &[u8]) {
    let _ = writer.write_all(frame).await;
}

/// The id of the `i`th request of a burst. They are counted down from the top
/// of the range, where a daemon that keeps ids as floats would mix them up.
fn burst_id(i: u64) -> u64 {
    u64::MAX - i
}

fn burst_params(i: u64) -> Value {
    json!({ "i": i })
}

/// Reads the answers of a burst, in whatever order.
async fn collect(reader: &mut OwnedReadHalf, count: u64) -> Result<(), Failure> {
    let mut awaited: HashMap<u64, Value> =
        (0..count).map(|i| (burst_id(i), burst_params(i))).collect();
    while !awaited.is_empty() {
        let response: Response = parse(&read_frame(reader).await?)?;
        let id = response.id;
        let params = awaited.remove(&id);
        let result = result_of(response, |_| params.is_some())?;
        if serde_json::from_str::<Value>(result.get()).ok() != params {
            let why = format!("id {id} came with the result {result}");
            return Err(Failure::Other(why));
        }
    }
    Ok(())
}

/// The result in a response, if its id is awaited.
fn result_of(
    response: Response,
    is_awaited: impl FnOnce(u64) -> bool,
) -> Result<Box<RawValue>, Failure> {
    let Response { id, outcome } = response;
    match outcome {
        // With id 0 the daemon could not read what was sent.
        Err(error) if id == NO_ID => Err(Failure::Error(error)),
        _ if !is_awaited(id) => {
            let why = format!("a response came for id {id}, which is not awaited");
            Err(Failure::Other(why))
        }
        outcome => outcome.map_err(Failure::Error),
    }
}

/// Prints JSON on one line. Outside of strings, where it cannot be, a line
/// end is mere space.
fn print_line(mut text: Vec<u8>) -> Result<(), Failure> {
    for byte in &mut text {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    text.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text)?;
    Ok(stdout.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(body: &str) -> Result<Box<RawValue>, Failure> {
        result_of(parse(body.as_bytes()).unwrap(), |id| id == ONLY_ID)
    }

    #[test]
    fn a_response_counts_only_for_its_own_request() {
        assert_eq!(result(r#"{"id":1,"result":[1]}"#).unwrap().get(), "[1]");
        for body in [
            r#"{"id":2,"result":1}"#,
            r#"{"id":0,"result":1}"#,
            r#"{"id":2,"error":{"code":"busy","message":""}}"#,
        ] {
            let failure = result(body).unwrap_err();
            assert!(matches!(failure, Failure::Other(_)), "{body}");
        }
    }

    #[test]
    fn an_error_counts_for_its_request_and_for_what_was_unreadable() {
        for id in [ONLY_ID, NO_ID] {
            let body = format!(r#"{{"id":{id},"error":{{"code":"c","message":"m"}}}}"#);
            let failure = result(&body).unwrap_err();
            assert!(matches!(failure, Failure::Error(_)), "{body}");
        }
    }
}
