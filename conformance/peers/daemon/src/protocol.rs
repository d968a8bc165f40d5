//! The wire format: frames, requests, responses, errors.
//!
//! A frame is a 4-byte little-endian `u32` length, then that many bytes of
//! UTF-8 JSON: one object. Nothing here knows what a method means.

use std::{fmt, io};

use serde::de::{self, DeserializeOwned};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

#[cfg(test)]
mod tests;

/// Hard cap on a single frame's JSON body: 16 MiB.
pub const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of the length prefix.
const PREFIX_BYTES: usize = size_of::<u32>();

/// The most characters of a message of the daemon's own. A message may quote
/// what the peer sent, and the answer must still fit a frame.
const MAX_MESSAGE_CHARS: usize = 400;

/// The error codes that the daemon gives of its own accord.
pub mod code {
    /// A frame that holds no request; answered with id 0.
    pub const MALFORMED_FRAME: &str = "malformed_frame";
    /// No such namespace or verb.
    pub const UNKNOWN_METHOD: &str = "unknown_method";
    /// The method is known, its params are not what it takes.
    pub const INVALID_PARAMS: &str = "invalid_params";
    /// Not now, because of what is in flight on this connection.
    pub const BUSY: &str = "busy";
    /// The daemon is stopping.
    pub const SHUTTING_DOWN: &str = "shutting_down";
}

/// A request from a client to the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// Correlates the response on a multiplexed connection.
    pub id: u64,
    /// `<namespace>.<verb>`.
    pub method: String,
    /// Opaque here. Left out, it is `{}`.
    #[serde(default = "no_params")]
    pub params: Box<RawValue>,
}

/// Empty params.
pub fn no_params() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("{} is JSON")
}

/// What a request comes to: its result, or why there is none.
pub type Outcome = Result<Box<RawValue>, RpcError>;

/// A response to a [`Request`]: on the wire `{id, result}` or `{id, error}`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "FlatResponse")]
pub struct Response {
    /// The request's id; 0 when the request could not be read.
    pub id: u64,
    /// The one of `result` and `error` that it carries.
    pub outcome: Outcome,
}

/// A response as it is read, before it is known to carry exactly one of the
/// two. Present is not the same as not null: `"result":null` is a result.
#[derive(Deserialize)]
struct FlatResponse {
    id: u64,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    error: Option<RpcError>,
}

fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl TryFrom<FlatResponse> for Response {
    type Error = &'static str;

    fn try_from(flat: FlatResponse) -> Result<Self, Self::Error> {
        let outcome = match (flat.result, flat.error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) => return Err("both result and error"),
            (None, None) => return Err("neither result nor error"),
        };
        let id = flat.id;
        Ok(Self { id, outcome })
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("id", &self.id)?;
        match &self.outcome {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(error) => map.serialize_entry("error", error)?,
        }
        map.end()
    }
}

/// Structured error in a [`Response`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpcError {
    /// What programs decide by, `snake_case`.
    pub code: String,
    /// What people read.
    pub message: String,
}

impl RpcError {
    /// An error of the daemon's own; a long message is cut short.
    pub fn new(code: &str, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        Self {
            code: code.to_owned(),
            message: message.chars().take(MAX_MESSAGE_CHARS).collect(),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Why no message could be read or written.
#[derive(Debug)]
pub enum ProtocolError {
    /// A body over [`MAX_FRAME_BYTES`], announced by a prefix or to be written.
    FrameTooLarge(usize),
    /// A body that is not UTF-8 JSON of the expected shape.
    Json(serde_json::Error),
    /// The stream ended between frames: the peer hung up.
    HungUp,
    /// The stream ended inside a frame.
    Truncated,
    /// Anything else that the transport reports.
    Io(io::Error),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::FrameTooLarge(bytes) => write!(
                f,
                "a frame of {bytes} bytes is over the cap of {MAX_FRAME_BYTES}"
            ),
            Self::Json(error) => error.fmt(f),
            Self::HungUp => f.write_str("the connection was closed"),
            Self::Truncated => f.write_str("the connection was closed inside a frame"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for ProtocolError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            _ => Self::Io(error),
        }
    }
}

impl From<serde_json::Error> for ProtocolError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// Reads one frame's raw JSON bytes, and not a byte beyond it.
///
/// Not safe to cancel: what was read of a frame is lost with the future.
pub async fn read_frame<R: AsyncRead + Unpin>(reader: &mut R) -> Result<Vec<u8>, ProtocolError> {
    let mut prefix = [0; PREFIX_BYTES];
    // The first read tells an end between frames from an end inside one.
    let first = reader.read(&mut prefix).await?;
    if first == 0 {
        return Err(ProtocolError::HungUp);
    }
    reader.read_exact(&mut prefix[first..]).await?;
    let length = u32::from_le_bytes(prefix) as usize;
    check_length(length)?;
    // Memory follows the bytes that come, not those that were announced.
    let mut body = Vec::new();
    (&mut *reader)
        .take(length as u64)
        .read_to_end(&mut body)
        .await?;
    if body.len() < length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    Ok(body)
}

/// Reads one [`Request`].
pub async fn read_request<R: AsyncRead + Unpin>(reader: &mut R) -> Result<Request, ProtocolError> {
    parse(&read_frame(reader).await?)
}

/// Parses a frame's body.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProtocolError> {
    // The bytes are checked as a whole, because the JSON parser does not look
    // into a string that it passes over; the brace, because serde would take
    // an array of the fields for the object.
    let text = std::str::from_utf8(body).map_err(<serde_json::Error as de::Error>::custom)?;
    if !text.trim_start().starts_with('{') {
        return Err(<serde_json::Error as de::Error>::custom("not a JSON object").into());
    }
    Ok(serde_json::from_str(text)?)
}

/// A message as one frame, prefix and all.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, ProtocolError> {
    let mut frame = vec![0; PREFIX_BYTES];
    serde_json::to_writer(&mut frame, message)?;
    let length = check_length(frame.len() - PREFIX_BYTES)?;
    frame[..PREFIX_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length as its prefix holds it, if the cap allows it.
fn check_length(length: usize) -> Result<u32, ProtocolError> {
    match u32::try_from(length) {
        Ok(prefix) if length <= MAX_FRAME_BYTES => Ok(prefix),
        _ => Err(ProtocolError::FrameTooLarge(length)),
    }
}
