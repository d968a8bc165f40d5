//! The methods: what each makes of its params, and what it answers.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::gates::{Gates, Opening};
use crate::protocol::{Outcome, Request, RpcError, code};

/// The one method that a stopping daemon still lets in: others that it waits
/// for may hang on it.
pub const OPEN: &str = "agent.open";

/// What a request leads to.
#[derive(Debug)]
pub enum Action {
    /// It is answered at once.
    Answer(Outcome),
    /// It is answered with this result once the gate opens.
    Wait(Opening, Box<RawValue>),
    /// It is acknowledged, and the connection becomes a raw stream.
    Upgrade,
}

#[derive(Deserialize)]
struct GateParams {
    gate: String,
}

/// Does what the request asks, as far as that needs no waiting.
pub fn start(request: Request, gates: &Gates) -> Result<Action, RpcError> {
    let Request { method, params, .. } = request;
    match method.as_str() {
        "agent.echo" => {
            object(&params)?;
            Ok(Action::Answer(Ok(params)))
        }
        "agent.fail" => Ok(Action::Answer(Err(read(&params)?))),
        "agent.wait" => {
            let GateParams { gate } = read(&params)?;
            Ok(Action::Wait(gates.wait(gate), params))
        }
        OPEN => {
            let GateParams { gate } = read(&params)?;
            gates.open(gate);
            Ok(Action::Answer(Ok(params)))
        }
        "channel.raw" => {
            object(&params)?;
            Ok(Action::Upgrade)
        }
        _ => Err(RpcError::new(code::UNKNOWN_METHOD, method)),
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(object(params)?)
        .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("params: {error}")))
}

/// The params' text, if they are an object.
fn object(params: &RawValue) -> Result<&str, RpcError> {
    let text = params.get();
    if text.starts_with('{') {
        return Ok(text);
    }
    Err(RpcError::new(
        code::INVALID_PARAMS,
        "params: must be an object",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(method: &str, params: &str) -> Result<Action, RpcError> {
        let request = Request {
            id: 1,
            method: method.to_owned(),
            params: RawValue::from_string(params.to_owned()).unwrap(),
        };
        start(request, &Gates::default())
    }

    #[test]
    fn an_echo_is_the_very_text() {
        let params = r#"{"b": 1.0, "a": []}"#;
        let Ok(Action::Answer(Ok(result))) = run("agent.echo", params) else {
            panic!("no result");
        };
        assert_eq!(result.get(), params);
    }

    #[test]
    fn a_failure_is_the_one_asked_for() {
        let params = r#"{"code":"own_code","message":"m"}"#;
        let Ok(Action::Answer(Err(error))) = run("agent.fail", params) else {
            panic!("no error");
        };
        assert_eq!(error, RpcError::new("own_code", "m"));
    }

    #[test]
    fn unknown_methods_are_named_whatever_their_params() {
        for method in [
            "agent.fly",
            "agent.",
            "channel.echo",
            "pet.echo",
            "echo",
            "",
        ] {
            let error = run(method, "null").unwrap_err();
            assert_eq!(error, RpcError::new(code::UNKNOWN_METHOD, method));
        }
    }

    #[test]
    fn bad_params_are_told() {
        for (method, params) in [
            ("agent.echo", "[1]"),
            ("channel.raw", "null"),
            ("agent.wait", "{}"),
            ("agent.wait", r#"["a"]"#),
            ("agent.open", r#"{"gate":1}"#),
            ("agent.fail", r#"{"code":"busy"}"#),
        ] {
            let error = run(method, params).unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
            assert!(error.message.starts_with("params: "), "{}", error.message);
        }
    }
}
