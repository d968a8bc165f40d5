use serde_json::json;
use tokio::io::AsyncReadExt;

use super::*;
use crate::protocol::{encode, parse, read_frame};

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn daemon(idle_limit: Duration) -> Arc<Daemon> {
    Arc::new(Daemon {
        lifecycle: Lifecycle::new(),
        gates: Gates::default(),
        idle_limit,
    })
}

/// The peer's end of a connection that is served.
struct Peer(UnixStream);

impl Peer {
    fn of(daemon: &Arc<Daemon>) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        tokio::spawn(serve(theirs, Arc::clone(daemon)));
        Self(ours)
    }

    async fn send(&mut self, id: u64, method: &str, params: &str) {
        self.0.write_all(&frame(id, method, params)).await.unwrap();
    }

    /// The next answer, as text.
    async fn answer(&mut self) -> String {
        let body = timeout(PATIENCE, read_frame(&mut self.0)).await;
        String::from_utf8(body.expect("no answer in time").unwrap()).unwrap()
    }

    /// The id and code of the next answer.
    async fn error(&mut self) -> (u64, String) {
        let answer: Response = parse(self.answer().await.as_bytes()).unwrap();
        (answer.id, answer.outcome.unwrap_err().code)
    }

    /// Every byte up to the end of the connection.
    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await;
        read.expect("no end in time").unwrap();
        rest
    }
}

fn frame(id: u64, method: &str, params: &str) -> Vec<u8> {
    let params = RawValue::from_string(params.to_owned()).unwrap();
    let method = method.to_owned();
    encode(&Request { id, method, params }).unwrap()
}

fn error(id: u64, code: &str) -> (u64, String) {
    (id, code.to_owned())
}

#[tokio::test]
async fn answers_come_when_they_are_ready() {
    let daemon = daemon(PATIENCE);
    let (mut peer, mut other) = (Peer::of(&daemon), Peer::of(&daemon));
    peer.send(u64::MAX, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.send(u64::MAX - 1, "agent.echo", r#"{"n":1.0}"#).await;
    let echo = r#"{"id":18446744073709551614,"result":{"n":1.0}}"#;
    assert_eq!(peer.answer().await, echo);
    other.send(0, "agent.open", r#"{"gate":"g"}"#).await;
    let waited = r#"{"id":18446744073709551615,"result":{"gate":"g"}}"#;
    assert_eq!(peer.answer().await, waited);
    let opened = r#"{"id":0,"result":{"gate":"g"}}"#;
    assert_eq!(other.answer().await, opened);
}

#[tokio::test]
async fn an_id_in_flight_is_refused_without_harm_and_free_after_its_answer() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    peer.send(7, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.send(7, "agent.echo", "{}").await;
    assert_eq!(peer.error().await, error(7, "busy"));
    peer.send(8, "agent.open", r#"{"gate":"g"}"#).await;
    let answers = [peer.answer().await, peer.answer().await];
    assert!(answers.contains(&r#"{"id":7,"result":{"gate":"g"}}"#.to_owned()));
    peer.send(7, "agent.echo", "{}").await;
    assert_eq!(peer.answer().await, r#"{"id":7,"result":{}}"#);
}

#[tokio::test]
async fn errors_of_a_request_leave_the_connection_open() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    for (method, params, code) in [
        ("agent.fly", "{}", "unknown_method"),
        ("agent.echo", "[]", "invalid_params"),
        ("agent.fail", r#"{"code":"own","message":"m"}"#, "own"),
    ] {
        peer.send(3, method, params).await;
        assert_eq!(peer.error().await, error(3, code));
    }
}

#[tokio::test]
async fn a_bad_frame_is_refused_with_id_0_and_ends_the_connection() {
    let over_the_cap = [1, 0, 0, 1];
    let quoting = json!({ "id": "\u{1}".repeat(1 << 20), "method": "agent.echo" });
    let truncated = &frame(1, "agent.echo", "{}")[..9];
    for bytes in [
        &over_the_cap[..],
        b"\x02\0\0\0{]",
        b"\x02\0\0\0[]",
        b"\0\0\0\0",
        &encode(&quoting).unwrap(),
        truncated,
    ] {
        let mut peer = Peer::of(&daemon(PATIENCE));
        peer.0.write_all(bytes).await.unwrap();
        if bytes == truncated {
            peer.0.shutdown().await.unwrap();
        }
        assert_eq!(peer.error().await, error(0, "malformed_frame"));
        assert!(peer.rest().await.is_empty());
    }
}

#[tokio::test]
async fn a_refused_frame_may_be_sent_to_its_end() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    let length = 17 * 1024 * 1024_u32;
    peer.0.write_all(&length.to_le_bytes()).await.unwrap();
    peer.0
        .write_all(&vec![b' '; length as usize])
        .await
        .unwrap();
    assert_eq!(peer.error().await, error(0, "malformed_frame"));
}

#[tokio::test]
async fn a_hang_up_is_met_with_silence() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    peer.0.shutdown().await.unwrap();
    assert!(peer.rest().await.is_empty());
}

#[tokio::test]
async fn one_who_ends_its_sending_still_gets_its_answers() {
    let daemon = daemon(PATIENCE);
    let mut peer = Peer::of(&daemon);
    peer.send(1, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.0.shutdown().await.unwrap();
    daemon.gates.open("g".to_owned());
    assert_eq!(peer.answer().await, r#"{"id":1,"result":{"gate":"g"}}"#);
    assert!(peer.rest().await.is_empty());
}

#[tokio::test]
async fn more_may_be_sent_than_is_read_meanwhile() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    let params = format!(r#"{{"text":"{}"}}"#, "x".repeat(10 * 1024 * 1024));
    for id in 0..3 {
        peer.send(id, "agent.echo", &params).await;
    }
    for id in 0..3 {
        let answer = peer.answer().await;
        assert!(answer == format!(r#"{{"id":{id},"result":{params}}}"#));
    }
}

#[tokio::test]
async fn an_upgraded_connection_sends_every_byte_back() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    let raw: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let mut sent = frame(4, "agent.echo", "{}");
    sent.extend(frame(5, "channel.raw", "{}"));
    sent.extend(&raw);
    peer.0.write_all(&sent).await.unwrap();
    assert_eq!(peer.answer().await, r#"{"id":4,"result":{}}"#);
    let acknowledged = r#"{"id":5,"result":{"upgraded":true}}"#;
    assert_eq!(peer.answer().await, acknowledged);
    peer.0.shutdown().await.unwrap();
    assert!(peer.rest().await == raw);
}

#[tokio::test]
async fn an_upgrade_is_refused_while_others_are_in_flight() {
    let mut peer = Peer::of(&daemon(PATIENCE));
    peer.send(1, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.send(2, "channel.raw", "{}").await;
    assert_eq!(peer.error().await, error(2, "busy"));
}

#[tokio::test]
async fn half_a_request_is_no_sign_of_life_but_an_answer_owed_is() {
    let limit = Duration::from_millis(100);
    let mut peer = Peer::of(&daemon(limit));
    peer.send(1, "agent.wait", r#"{"gate":"g"}"#).await;
    let mut byte = [0];
    let early = timeout(limit * 3, peer.0.read(&mut byte)).await;
    assert!(early.is_err(), "dropped while it waited");
    peer.send(2, "agent.open", r#"{"gate":"g"}"#).await;
    peer.answer().await;
    peer.answer().await;
    peer.0.write_all(&[9, 0]).await.unwrap();
    assert!(peer.rest().await.is_empty());
}

#[tokio::test]
async fn a_stopping_daemon_lets_in_only_what_opens_a_gate() {
    let daemon = daemon(PATIENCE);
    let mut peer = Peer::of(&daemon);
    peer.send(1, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.send(2, "agent.echo", "{}").await;
    peer.answer().await;
    daemon.lifecycle.advance(Phase::Stopping);
    peer.send(2, "agent.echo", "{}").await;
    assert_eq!(peer.error().await, error(2, "shutting_down"));
    assert!(
        timeout(Duration::ZERO, daemon.lifecycle.emptied())
            .await
            .is_err()
    );
    peer.send(3, "agent.open", r#"{"gate":"g"}"#).await;
    peer.answer().await;
    peer.answer().await;
    timeout(PATIENCE, daemon.lifecycle.emptied()).await.unwrap();
}

#[tokio::test]
async fn a_closing_daemon_answers_what_it_was_sent_and_hangs_up() {
    let daemon = daemon(PATIENCE);
    let mut peer = Peer::of(&daemon);
    peer.send(1, "agent.wait", r#"{"gate":"g"}"#).await;
    peer.send(2, "agent.echo", "{}").await;
    peer.answer().await;
    peer.0.write_all(&[9, 0]).await.unwrap();
    daemon.lifecycle.advance(Phase::Closing);
    assert_eq!(peer.error().await, error(1, "shutting_down"));
    assert!(peer.rest().await.is_empty());
}
