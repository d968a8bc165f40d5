//! Replies: how they are written (SHAPE-3) and how they are read (SHAPE-5).

use crate::limits::{Limits, FAMILY, SURFACE};
use crate::message::Encoding;
use crate::value::{member, quote, Members, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Refused,
    Failed,
    Malformed,
    /// Made on the caller's side and never written (FAULT-1).
    Unavailable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub fault: Fault,
    pub text: String,
}

impl Refusal {
    pub fn refused(text: impl Into<String>) -> Refusal {
        Refusal {
            fault: Fault::Refused,
            text: text.into(),
        }
    }

    pub fn failed(text: impl Into<String>) -> Refusal {
        Refusal {
            fault: Fault::Failed,
            text: text.into(),
        }
    }

    pub fn malformed(text: impl Into<String>) -> Refusal {
        Refusal {
            fault: Fault::Malformed,
            text: text.into(),
        }
    }

    pub fn unavailable(text: impl Into<String>) -> Refusal {
        Refusal {
            fault: Fault::Unavailable,
            text: text.into(),
        }
    }
}

/// What answers a call: its rows, or a refusal.
pub type Answer = Result<Vec<Value>, Refusal>;

/// The bytes of a reply within the limits. One that cannot be written becomes a refusal that says
/// so (ENC-7, LIMIT-3). `surface` is for the reply to `verbs` alone (VER-2).
pub fn write(answer: Answer, surface: bool, encoding: Encoding, limits: &Limits) -> Vec<u8> {
    let reply = reply(answer, surface);
    if let Some(over) = reply.over(limits) {
        let text = format!("result cannot be written: {over}");
        return encoding.write(&self::reply(Err(Refusal::failed(text)), false));
    }
    let bytes = encoding.write(&reply);
    if bytes.len() <= limits.frame {
        return bytes;
    }
    let text = format!(
        "the reply is {} bytes long, and the cap is {}",
        bytes.len(),
        limits.frame
    );
    encoding.write(&self::reply(Err(Refusal::failed(text)), false))
}

fn reply(answer: Answer, surface: bool) -> Value {
    let ok = answer.is_ok();
    let (rows, refusal) = match answer {
        Ok(rows) => (rows, None),
        Err(refusal) => (Vec::new(), Some(refusal)),
    };
    let mut members = vec![
        ("ok".to_owned(), Value::Bool(ok)),
        ("family".to_owned(), Value::integer(FAMILY)),
    ];
    if surface {
        members.push(("surface".to_owned(), Value::integer(SURFACE)));
    }
    members.push(("n".to_owned(), Value::integer(rows.len())));
    members.push(("result".to_owned(), Value::List(rows)));
    if let Some(refusal) = refusal {
        let fault = match refusal.fault {
            Fault::Refused => "refused",
            Fault::Malformed => "malformed",
            Fault::Failed | Fault::Unavailable => "failed",
        };
        members.push(("error".to_owned(), Value::Text(refusal.text)));
        members.push(("fault".to_owned(), Value::text(fault)));
    }
    Value::Map(members)
}

/// Takes a reply of `peer`. `Ok(Err(refusal))` is what the peer said, `Err` that this is no reply
/// that this program could take.
pub fn read(members: Members, peer: &str) -> Result<Answer, String> {
    let broken = |what: String| format!("{peer}: {what}");
    let family = whole(&members, "family", "0").map_err(broken)?;
    if family.len() > 1 || family.as_str() > "1" {
        return Err(format!(
            "{peer} speaks family {} and this program reads up to {FAMILY}",
            quote(&family)
        ));
    }
    let Some(Value::Bool(ok)) = member(&members, "ok") else {
        return Err(broken("ok is no bool".to_owned()));
    };
    let result = match member(&members, "result") {
        None => &[],
        Some(Value::List(rows)) => rows.as_slice(),
        Some(_) => return Err(broken("result is not a list".to_owned())),
    };
    let n = whole(&members, "n", &result.len().to_string()).map_err(broken)?;
    let Some(rows) = n.parse().ok().and_then(|n: usize| result.get(..n)) else {
        return Err(broken(format!(
            "n is {} and result holds {}",
            quote(&n),
            result.len()
        )));
    };
    if *ok {
        return Ok(Ok(rows.to_vec()));
    }
    let text = match member(&members, "error") {
        Some(Value::Text(text)) if !text.is_empty() => text.as_str(),
        _ => "no reason given",
    };
    let fault = match member(&members, "fault") {
        Some(Value::Text(fault)) => fault.as_str(),
        _ => "refused",
    };
    let fault = match fault {
        "failed" => Fault::Failed,
        "malformed" => Fault::Malformed,
        "unavailable" => Fault::Unavailable,
        _ => Fault::Refused,
    };
    Ok(Err(Refusal {
        fault,
        text: text.to_owned(),
    }))
}

/// The digits of a member that is a whole number from 0.
fn whole(members: &Members, name: &str, missing: &str) -> Result<String, String> {
    match member(members, name) {
        None => Ok(missing.to_owned()),
        Some(value) => value
            .whole()
            .ok_or_else(|| format!("{name} is no whole number from 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn taken(text: &str) -> Result<Answer, String> {
        let Ok(Value::Map(members)) = json::read(text.as_bytes(), &Limits::process()) else {
            panic!("no map: {text}")
        };
        read(members, "it")
    }

    #[test]
    fn the_family_is_looked_at_first() {
        for family in ["2", "2.0", "10", "18446744073709551617"] {
            let error = taken(&format!("{{\"ok\":7,\"family\":{family}}}")).unwrap_err();
            assert!(error.contains("reads up to 1"), "{error}");
        }
        assert_eq!(taken("{\"ok\":true,\"family\":1.0}"), Ok(Ok(vec![])));
        assert!(taken("{\"ok\":true,\"family\":-1}").is_err());
    }

    #[test]
    fn n_cuts_the_rows_and_never_adds_any() {
        assert_eq!(
            taken("{\"ok\":true,\"n\":1,\"result\":[1,2]}"),
            Ok(Ok(vec![Value::integer(1)]))
        );
        assert_eq!(
            taken("{\"ok\":true,\"n\":2,\"result\":[1]}"),
            Err("it: n is 2 and result holds 1".to_owned())
        );
    }

    #[test]
    fn a_refusal_has_a_reason_and_a_fault() {
        assert_eq!(
            taken("{\"ok\":false,\"error\":\"\"}"),
            Ok(Err(Refusal::refused("no reason given")))
        );
        assert_eq!(
            taken("{\"ok\":false,\"error\":\"x\",\"fault\":\"busy\"}"),
            Ok(Err(Refusal::refused("x")))
        );
    }
}
