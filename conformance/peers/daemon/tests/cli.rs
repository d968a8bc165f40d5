//! The command line, end to end: its output, its exit codes, its stop.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

/// A daemon at a socket of its own; killed when dropped.
struct Daemon {
    process: Child,
    path: PathBuf,
}

impl Daemon {
    fn start(name: &str) -> Self {
        let path = socket_path(name);
        let mut process = peer(&["serve", path.to_str().unwrap()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let expected = format!(
            "{{\"event\":\"listening\",\"at\":\"{}\"}}\n",
            path.display()
        );
        assert_eq!(line, expected);
        Self { process, path }
    }

    fn terminate(&self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

fn socket_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("daemon-peer-{}-{name}", std::process::id()))
}

fn peer(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daemon-peer"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs a client command against the socket.
fn client(command: &str, path: &Path, args: &[&str]) -> Output {
    let path = path.to_str().unwrap();
    peer(&[&[command, path], args].concat()).output().unwrap()
}

#[track_caller]
fn assert_ended(output: &Output, code: i32, stdout: &str) {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), &*printed), (Some(code), stdout));
    assert_eq!(output.stderr.is_empty(), code == 0, "a reason on stderr");
}

fn frame(body: &str) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&length, body.as_bytes()].concat()
}

fn read_body(stream: &mut UnixStream) -> String {
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).unwrap();
    let mut body = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn calls_print_the_response_and_exit_by_it() {
    let daemon = Daemon::start("call");
    let call = |args: &[&str]| client("call", &daemon.path, args);
    let echoed = "{\"id\":1,\"result\":{\"b\": 1.0,  \"a\":2}}\n";
    let params = "{\"b\": 1.0,\n \"a\":2}";
    assert_ended(&call(&["agent.echo", params]), 0, echoed);
    let unknown = "{\"id\":1,\"error\":{\"code\":\"unknown_method\",\"message\":\"pet.sit\"}}\n";
    assert_ended(&call(&["pet.sit"]), 1, unknown);
    assert_ended(&call(&["agent.echo", "{"]), 2, "");
    assert_ended(
        &client("call", &socket_path("none"), &["agent.echo"]),
        2,
        "",
    );
}

#[test]
fn bursts_are_answered_to_the_last() {
    let daemon = Daemon::start("burst");
    let burst = |args: &[&str]| client("burst", &daemon.path, args);
    let answered = "{\"answered\":5000}\n";
    assert_ended(&burst(&["agent.echo", "5000"]), 0, answered);
    assert_ended(&burst(&["agent.fly", "5"]), 1, "");
}

#[test]
fn an_upgrade_carries_stdin_there_and_back() {
    let daemon = Daemon::start("upgrade");
    let mut upgrade = peer(&["upgrade", daemon.path.to_str().unwrap(), "channel.raw"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = upgrade.stdin.take().unwrap();
    let sent: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    let to_send = sent.clone();
    let writing = thread::spawn(move || stdin.write_all(&to_send).unwrap());
    let output = upgrade.wait_with_output().unwrap();
    writing.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == sent);
}

#[test]
fn responses_that_the_wire_does_not_allow_are_no_responses() {
    let path = socket_path("bad");
    let listener = UnixListener::bind(&path).unwrap();
    for bytes in [
        frame(r#"{"id":2,"result":{}}"#),
        frame(r#"{"id":1}"#),
        frame(r#"{"id":1,"result":{},"error":{"code":"c","message":"m"}}"#),
        frame("{"),
        frame(r#"{"id":1,"result":{}}"#)[..9].to_vec(),
        vec![0xff; 4],
        vec![],
    ] {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                read_body(&mut stream);
                stream.write_all(&bytes).unwrap();
            });
            assert_ended(&client("call", &path, &["agent.echo"]), 2, "");
        });
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_terminated_daemon_finishes_what_is_in_flight_and_leaves_no_socket() {
    let mut daemon = Daemon::start("stop");
    let mut stream = UnixStream::connect(&daemon.path).unwrap();
    let wait = frame(r#"{"id":1,"method":"agent.wait","params":{"gate":"g"}}"#);
    let echo = frame(r#"{"id":2,"method":"agent.echo"}"#);
    stream.write_all(&wait).unwrap();
    stream.write_all(&echo).unwrap();
    assert_eq!(read_body(&mut stream), r#"{"id":2,"result":{}}"#);
    daemon.terminate();
    // The signal is on its way: ask until it has come.
    let refused = loop {
        stream.write_all(&echo).unwrap();
        let answer = read_body(&mut stream);
        if answer.contains("error") {
            break answer;
        }
    };
    assert!(refused.contains("shutting_down"), "{refused}");
    let opened = client("call", &daemon.path, &["agent.open", r#"{"gate":"g"}"#]);
    assert_ended(&opened, 0, "{\"id\":1,\"result\":{\"gate\":\"g\"}}\n");
    assert_eq!(read_body(&mut stream), r#"{"id":1,"result":{"gate":"g"}}"#);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    assert_eq!(daemon.process.wait().unwrap().code(), Some(0));
    assert!(!daemon.path.exists());
}
