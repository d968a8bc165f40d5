use serde_json::json;

use super::*;

fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

fn request(body: &[u8]) -> Result<Request, ProtocolError> {
    parse(body)
}

fn response(body: &str) -> Result<Response, ProtocolError> {
    parse(body.as_bytes())
}

#[test]
fn a_frame_is_a_little_endian_length_and_its_body() {
    assert_eq!(encode(&json!({})).unwrap(), [2, 0, 0, 0, b'{', b'}']);
}

#[tokio::test]
async fn frames_follow_each_other_until_the_end() {
    let wire = [framed(b"1"), framed(b""), framed(b"22")].concat();
    let mut reader = wire.as_slice();
    for expected in [&b"1"[..], b"", b"22"] {
        assert_eq!(read_frame(&mut reader).await.unwrap(), expected);
    }
    let end = read_frame(&mut reader).await.unwrap_err();
    assert!(matches!(end, ProtocolError::HungUp), "{end}");
}

#[tokio::test]
async fn an_end_inside_a_frame_is_told_apart() {
    let frame = framed(b"{}");
    for cut in 1..frame.len() {
        let end = read_frame(&mut &frame[..cut]).await.unwrap_err();
        assert!(matches!(end, ProtocolError::Truncated), "{cut}: {end}");
    }
}

#[tokio::test]
async fn the_cap_itself_passes_both_ways_and_one_more_does_not() {
    // Two bytes of a JSON string are its quotes.
    let frame = encode(&"x".repeat(MAX_FRAME_BYTES - 2)).unwrap();
    let body = read_frame(&mut frame.as_slice()).await.unwrap();
    assert_eq!(body.len(), MAX_FRAME_BYTES);

    let error = encode(&"x".repeat(MAX_FRAME_BYTES - 1)).unwrap_err();
    assert!(matches!(error, ProtocolError::FrameTooLarge(_)), "{error}");
    let prefix = u32::try_from(MAX_FRAME_BYTES + 1).unwrap().to_le_bytes();
    for prefix in [prefix, [0xff; 4]] {
        let error = read_frame(&mut prefix.as_slice()).await.unwrap_err();
        assert!(matches!(error, ProtocolError::FrameTooLarge(_)), "{error}");
    }
}

#[test]
fn params_are_kept_to_the_letter() {
    for params in [
        r#"{"b":1.10,"a":123456789012345678901234567890}"#,
        r#"{"x":1, "x":2}"#,
        "null",
    ] {
        let body = format!(r#"{{"id":18446744073709551615,"method":"m.v","params":{params}}}"#);
        let read = request(body.as_bytes()).unwrap();
        assert_eq!(read.params.get(), params);
        assert_eq!(&encode(&read).unwrap()[PREFIX_BYTES..], body.as_bytes());
    }
}

#[test]
fn params_left_out_are_an_empty_object() {
    let bare = request(br#"{"id":0,"method":"agent.echo","more":true}"#).unwrap();
    assert_eq!(bare.params.get(), "{}");
}

#[test]
fn what_is_no_request_is_malformed() {
    let bodies: [&[u8]; 11] = [
        b"",
        b"{",
        b"{}{}",
        b"null",
        br#"[1,"agent.echo",{}]"#,
        br#"{"method":"agent.echo","params":{}}"#,
        br#"{"id":1,"params":{}}"#,
        br#"{"id":-1,"method":"agent.echo"}"#,
        br#"{"id":18446744073709551616,"method":"agent.echo"}"#,
        br#"{"id":1,"id":2,"method":"agent.echo"}"#,
        b"{\"id\":1,\"method\":\"agent.echo\",\"extra\":\"\xff\"}",
    ];
    for body in bodies {
        let error = request(body).unwrap_err();
        assert!(matches!(error, ProtocolError::Json(_)), "{error}");
    }
}

#[test]
fn responses_are_flat_and_come_back_as_they_were() {
    for body in [
        r#"{"id":3,"result":null}"#,
        r#"{"id":18446744073709551615,"result":{"n":1}}"#,
        r#"{"id":0,"error":{"code":"of_a_later_version","message":"no"}}"#,
    ] {
        let read = response(body).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), body);
    }
}

#[test]
fn what_is_not_exactly_one_of_result_and_error_is_malformed() {
    for body in [
        r#"{"id":1}"#,
        r#"{"result":1}"#,
        r#"{"id":1,"result":1,"error":{"code":"busy","message":""}}"#,
        r#"{"id":1,"result":1,"error":null}"#,
        r#"{"id":1,"error":null}"#,
        r#"{"id":1,"result":1,"result":2}"#,
        r#"{"id":1,"error":{"code":"busy"}}"#,
    ] {
        let error = response(body).unwrap_err();
        assert!(matches!(error, ProtocolError::Json(_)), "{body}: {error}");
    }
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let error = RpcError::new(code::BUSY, "é".repeat(MAX_MESSAGE_CHARS + 1));
    assert_eq!(error.message, "é".repeat(MAX_MESSAGE_CHARS));
}
