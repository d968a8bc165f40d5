//! Messages: which encoding they are in (ENC-1) and which of the three shapes they have (SHAPE-1).

use crate::limits::Limits;
use crate::value::{member, Malformed, Members, Value};
use crate::{cbor, json};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Encoding {
    Json,
    Cbor,
}

impl Encoding {
    pub fn write(self, value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Encoding::Json => json::write(value, &mut out),
            Encoding::Cbor => cbor::write(value, &mut out),
        }
        out
    }
}

#[derive(Debug)]
pub enum Message {
    Call {
        verb: String,
        args: Vec<Value>,
        /// The call was made while another was being answered (CLIENT-6).
        within: bool,
    },
    /// Has `ok`. The rest is for `reply::read` to judge.
    Reply(Members),
    /// Never answered, whatever is wrong with it (SHAPE-6).
    Event,
    /// What is wrong.
    Malformed(String),
}

/// Where a message begins and in what it is written. `Err`: it is certainly of another kind.
fn detect(bytes: &[u8]) -> Result<(Encoding, usize), Malformed> {
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let start = bytes.iter().take_while(space).count();
    let other = |why: &str| Err(Malformed::new(start, why));
    match &bytes[start..] {
        [] => other("the message is empty"),
        [0xef, 0xbb, 0xbf, ..] => other("the message begins with a byte order mark"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => {
            other("the message is UTF-16, and UTF-8 is taken")
        }
        [0x1f, 0x8b, ..] => other("the message is compressed with gzip"),
        [0x80..=0xbf, ..] => Ok((Encoding::Cbor, start)),
        rest @ [0xc0..=0xdb, ..] if !begins_character(rest) => {
            other("there is a CBOR tag in front: send the bare map")
        }
        rest if rest.len() > 14 && rest[..15].eq_ignore_ascii_case(b"content-length:") => {
            other("the message begins with a Content-Length header: send the bare message")
        }
        _ => Ok((Encoding::Json, start)),
    }
}

/// Whether the bytes begin with a character of UTF-8, such as the no-break space.
fn begins_character(bytes: &[u8]) -> bool {
    let two = &bytes[..bytes.len().min(2)];
    std::str::from_utf8(two).is_ok()
}

fn describe(malformed: Malformed) -> String {
    format!("at byte {}: {}", malformed.at, malformed.why)
}

/// A value in either encoding, and which it was.
pub fn read_value(bytes: &[u8], limits: &Limits) -> (Encoding, Result<Value, String>) {
    let (encoding, value) = match detect(bytes) {
        Err(other) => (Encoding::Json, Err(other)),
        Ok((Encoding::Json, _)) => (Encoding::Json, json::read(bytes, limits)),
        Ok((Encoding::Cbor, start)) => (Encoding::Cbor, cbor::read(bytes, start, limits)),
    };
    (encoding, value.map_err(describe))
}

/// A value that is JSON whatever it begins with, such as a word of a command line.
pub fn read_json(bytes: &[u8], limits: &Limits) -> Result<Value, String> {
    json::read(bytes, limits).map_err(describe)
}

pub fn read(bytes: &[u8], limits: &Limits) -> (Encoding, Message) {
    let (encoding, value) = read_value(bytes, limits);
    let message = match value {
        Ok(value) => shape(value),
        Err(why) => Message::Malformed(why),
    };
    match message {
        Message::Malformed(_) if first_is_event(bytes, limits) => (encoding, Message::Event),
        message => (encoding, message),
    }
}

/// A message on a pipe, which carries JSON alone (ENC-2).
pub fn read_line(line: &[u8], limits: &Limits) -> Message {
    match read(line, limits) {
        (_, Message::Event) => Message::Event,
        (Encoding::Json, message) => message,
        (Encoding::Cbor, _) => {
            Message::Malformed("a pipe carries JSON alone, and CBOR goes to the socket".to_owned())
        }
    }
}

fn first_is_event(bytes: &[u8], limits: &Limits) -> bool {
    let name = match detect(bytes) {
        Ok((Encoding::Json, _)) => json::first_name(bytes, limits),
        Ok((Encoding::Cbor, start)) => cbor::first_name(bytes, start, limits),
        Err(_) => None,
    };
    name.as_deref() == Some("event")
}

fn shape(value: Value) -> Message {
    let Value::Map(members) = value else {
        return Message::Malformed("a call is an object, and this is none".to_owned());
    };
    let there = |name| member(&members, name).is_some();
    match (there("call"), there("ok"), there("event")) {
        (true, false, false) => call(members),
        (false, true, false) => Message::Reply(members),
        (false, false, true) => Message::Event,
        (false, false, false) => {
            Message::Malformed("none of the members call, ok and event is there".to_owned())
        }
        _ => Message::Malformed(
            "more than one of the members call, ok and event is there".to_owned(),
        ),
    }
}

fn call(members: Members) -> Message {
    let within = member(&members, "within") == Some(&Value::Bool(true));
    let mut verb = None;
    let mut args = Vec::new();
    for (name, value) in members {
        match (name.as_str(), value) {
            ("call", Value::Text(text)) if !text.is_empty() => verb = Some(text),
            ("args", Value::List(list)) => args = list,
            ("args", _) => return Message::Malformed("args is no list".to_owned()),
            _ => {}
        }
    }
    match verb {
        Some(verb) => Message::Call { verb, args, within },
        None => Message::Malformed("call is no text, or an empty one".to_owned()),
    }
}
