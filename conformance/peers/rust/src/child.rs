//! A program that this one starts and talks to, with its whole process group (PIPE-4).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::limits::{CLOSE, CLOSE_ENDING, QUOTE};
use crate::value::quote;
use crate::{stop, sys};

/// Bytes of its stderr that are kept, the last ones.
const TAIL: usize = 1024;

/// Ends the child when it is dropped.
pub struct Child {
    process: std::process::Child,
    /// Ready for reading once the child has ended.
    ended: OwnedFd,
    /// `None` once it has ended.
    stderr: Option<ChildStderr>,
    tail: Vec<u8>,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// How it ended, once it has.
    epitaph: Option<String>,
}

impl Child {
    pub fn start(program: &str, words: &[&str]) -> io::Result<Child> {
        let mut command = Command::new(program);
        command.args(words).process_group(0);
        command.env_remove("LISTEN_FDS").env_remove("LISTEN_PID");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let ended = sys::pidfd(process.id()).inspect_err(|_| {
            sys::kill_group(process.id(), libc::SIGKILL);
            let _ = process.wait();
        })?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().expect("stdout is a pipe");
        let stderr = process.stderr.take();
        let child = Child {
            process,
            ended,
            stderr,
            tail: Vec::new(),
            stdin,
            stdout,
            epitaph: None,
        };
        // Our ends alone: those of the child are other descriptions.
        for fd in [child.stdout(), child.stdin().unwrap_or(-1), child.stderr()] {
            sys::set_nonblocking(fd)?;
        }
        Ok(child)
    }

    pub fn stdin(&self) -> Option<RawFd> {
        self.stdin.as_ref().map(|stdin| stdin.as_raw_fd())
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn stdout(&self) -> RawFd {
        self.stdout.as_raw_fd()
    }

    /// Ready for reading once the child has ended.
    pub fn ended(&self) -> RawFd {
        self.ended.as_raw_fd()
    }

    /// Where its stderr comes from, or -1, which nobody waits for.
    pub fn stderr(&self) -> RawFd {
        self.stderr.as_ref().map_or(-1, |stderr| stderr.as_raw_fd())
    }

    /// Takes what has come on stderr until now, but not what comes meanwhile.
    pub fn read_stderr(&mut self) {
        let mut chunk = [0; 4096];
        let mut there = sys::available(self.stderr()).max(1); // an end shows as no bytes
        while there > 0 && self.stderr.is_some() {
            match sys::read(self.stderr(), &mut chunk) {
                Ok(count) if count > 0 => {
                    there = there.saturating_sub(count);
                    self.tail.extend(&chunk[..count]);
                    let old = self.tail.len().saturating_sub(TAIL);
                    self.tail.drain(..old);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => self.stderr = None,
            }
        }
    }

    /// Ends the child in steps, of which each is for its whole group, and tells how it ended, with
    /// the last of its stderr. Returns within two steps.
    pub fn end(&mut self) -> &str {
        if self.epitaph.is_none() {
            self.stdin = None;
            if !self.ends() {
                sys::kill_group(self.process.id(), libc::SIGTERM);
                self.ends();
            }
            self.epitaph = Some(self.bury());
        }
        self.epitaph.as_deref().unwrap_or_default()
    }

    /// While the child is not waited for its number is nobody else's, so the group is killed first.
    fn bury(&mut self) -> String {
        sys::kill_group(self.process.id(), libc::SIGKILL);
        let status = match self.process.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        self.read_stderr();
        let tail = String::from_utf8_lossy(&self.tail);
        let tail = tail.trim();
        let start = (tail.len().saturating_sub(QUOTE)..).find(|at| tail.is_char_boundary(*at));
        match &tail[start.unwrap_or(0)..] {
            "" => status,
            last => format!("{status}; the last of its stderr: {}", quote(last)),
        }
    }

    /// Whether the child has ended before one step of its ending is over.
    fn ends(&mut self) -> bool {
        let begun = Instant::now();
        loop {
            let soon = stop::deadline(CLOSE_ENDING).map(|ending| ending.max(begun + CLOSE_ENDING));
            let deadline = soon.map_or(begun + CLOSE, |soon| soon.min(begun + CLOSE));
            let ending = if soon.is_some() { -1 } else { stop::fd() };
            let mut fds = [
                sys::watch(self.ended(), libc::POLLIN),
                sys::watch(self.stderr(), libc::POLLIN),
                sys::watch(ending, libc::POLLIN),
            ];
            match sys::poll(&mut fds, Some(deadline)) {
                Ok(true) if fds[0].revents != 0 => return true,
                Ok(true) if Instant::now() < deadline => self.read_stderr(),
                Ok(_) | Err(_) => return false,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}
