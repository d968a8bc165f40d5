//! Runs the shared vectors that are about bytes and values alone.

use std::fs;

use serde_json::Value as Data;

use crate::limits::Limits;
use crate::message::{self, Encoding, Message};
use crate::value::{Malformed, Value};
use crate::{cbor, json, reply};

fn cases(file: &str, kind: &str) -> Vec<Data> {
    let path = format!("{}/../../vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let data: Data = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let cases = data["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["kind"] == kind).cloned().collect()
}

/// A text, a piece, or a list of both.
fn bytes(data: &Data) -> Vec<u8> {
    match data {
        Data::String(text) => text.as_bytes().to_vec(),
        Data::Array(pieces) => pieces.iter().flat_map(bytes).collect(),
        piece => {
            let once = if let Some(text) = piece["text"].as_str() {
                text.as_bytes().to_vec()
            } else if let Some(hex) = piece["hex"].as_str() {
                let digits = hex
                    .as_bytes()
                    .chunks(2)
                    .map(|pair| std::str::from_utf8(pair).unwrap());
                digits
                    .map(|pair| u8::from_str_radix(pair, 16).unwrap())
                    .collect()
            } else {
                let (from, to) = (
                    piece["from"].as_u64().unwrap(),
                    piece["to"].as_u64().unwrap(),
                );
                let text = piece["count"].as_str().unwrap();
                (from..=to)
                    .flat_map(|number| text.replace('#', &number.to_string()).into_bytes())
                    .collect()
            };
            once.repeat(piece["times"].as_u64().unwrap_or(1) as usize)
        }
    }
}

fn limits(case: &Data) -> Limits {
    let limit = |name: &str, default| {
        case["limits"][name]
            .as_u64()
            .map_or(default, |limit| limit as usize)
    };
    let default = Limits::process();
    Limits {
        frame: limit("frame", default.frame),
        depth: limit("depth", default.depth),
        items: limit("items", default.items),
        intbits: limit("intbits", default.intbits),
    }
}

fn read(encoding: Encoding, input: &[u8], limits: &Limits) -> Result<Value, Malformed> {
    match encoding {
        Encoding::Json => json::read(input, limits),
        Encoding::Cbor => cbor::read(input, 0, limits),
    }
}

#[test]
fn values_are_the_same_in_every_way_they_come() {
    for case in ["encodings", "limits"]
        .into_iter()
        .flat_map(|file| cases(file, "value"))
    {
        for (encoding, name) in [(Encoding::Json, "json"), (Encoding::Cbor, "cbor")] {
            for input in case[name].as_array().into_iter().flatten() {
                let value = read(encoding, &bytes(input), &limits(&case))
                    .unwrap_or_else(|e| panic!("{case}: {e:?}"));
                let again = |encoding: Encoding| {
                    read(encoding, &encoding.write(&value), &limits(&case)).unwrap()
                };
                assert_eq!(again(Encoding::Json), value, "{case}");
                assert_eq!(again(Encoding::Cbor), value, "{case}");
                if let Some(hex) = case["write"]["cbor"].as_str() {
                    let written = Encoding::Cbor.write(&value);
                    assert_eq!(bytes(&serde_json::json!({ "hex": hex })), written, "{case}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_value_is_refused() {
    for case in ["refused", "limits"]
        .into_iter()
        .flat_map(|file| cases(file, "refused-value"))
    {
        let encoding = if case["encoding"] == "cbor" {
            Encoding::Cbor
        } else {
            Encoding::Json
        };
        let read = read(encoding, &bytes(&case["input"]), &limits(&case));
        assert!(read.is_err(), "{}: {read:?}", case["name"]);
    }
}

/// What a message is, in the words of the vectors, and the error where there is one.
fn outcome(message: Message) -> (&'static [&'static str], String) {
    match message {
        Message::Call { .. } => (&["call"], String::new()),
        Message::Event => (&["event", "ignored"], String::new()),
        Message::Malformed(why) => (&["malformed"], why),
        Message::Reply(members) => match reply::read(members, "it") {
            Ok(Ok(_)) => (&["rows"], String::new()),
            Ok(Err(refusal)) => (&["refusal"], refusal.text),
            Err(why) => (&["bad-reply"], why),
        },
    }
}

fn texts(list: &Data) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Data::as_str)
}

#[test]
fn messages_are_what_they_are() {
    let files = ["shapes", "replies", "versions", "detection", "limits"];
    for case in files.into_iter().flat_map(|file| cases(file, "message")) {
        let (is, why) = outcome(message::read(&bytes(&case["input"]), &limits(&case)).1);
        let fits = |allowed: &Data| {
            is.iter().any(|word| allowed["is"] == *word)
                && texts(&allowed["says"]).all(|text| why.contains(text))
                && !texts(&allowed["lacks"]).any(|text| why.contains(text))
        };
        let allowed = case["allow"].as_array().unwrap();
        assert!(allowed.iter().any(fits), "{}: {is:?} {why}", case["name"]);
    }
}
