//! Bytes as they come in, cut into lines (PIPE-1) and frames (SOCK-1).

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::queue::Incoming;
use crate::{stop, sys};

const CHUNK: usize = 8 << 10;

/// What came of waiting for more bytes.
enum More {
    Came,
    /// The end of the input, or of what is read before this program ends.
    Ended,
    TooLate,
}

struct Source {
    fd: RawFd,
    /// What has come and was not taken.
    bytes: Vec<u8>,
    /// Once the program has to end: what the kernel still held then, and is read.
    left: Option<usize>,
}

impl Source {
    fn new(fd: RawFd) -> Source {
        Source {
            fd,
            bytes: Vec::new(),
            left: None,
        }
    }

    fn more(&mut self, deadline: Option<Instant>) -> io::Result<More> {
        loop {
            if self.left == Some(0) {
                return Ok(More::Ended);
            }
            // While ending, nothing is waited for: what is left is here, or somebody else took it.
            let (ending, deadline) = match self.left {
                Some(_) => (-1, Some(Instant::now())),
                None => (stop::fd(), deadline),
            };
            let mut fds = [
                sys::watch(self.fd, libc::POLLIN),
                sys::watch(ending, libc::POLLIN),
            ];
            let ready = sys::poll(&mut fds, deadline)?;
            let late =
                self.left.is_none() && deadline.is_some_and(|deadline| deadline <= Instant::now());
            if !ready || late {
                return Ok(if self.left.is_some() {
                    More::Ended
                } else {
                    More::TooLate
                });
            }
            if fds[1].revents != 0 {
                self.left = Some(sys::available(self.fd));
                continue;
            }
            let mut chunk = [0; CHUNK];
            let room = self.left.unwrap_or(CHUNK).min(CHUNK);
            match sys::read(self.fd, &mut chunk[..room]) {
                Ok(0) => return Ok(More::Ended),
                Ok(count) => {
                    self.left = self.left.map(|left| left - count);
                    self.bytes.extend(&chunk[..count]);
                    return Ok(More::Came);
                }
                // Somebody else made the descriptor so, or took what was there.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Ok(More::Ended)
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the first bytes out.
    fn cut(&mut self, count: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(count);
        std::mem::replace(&mut self.bytes, rest)
    }
}

pub struct Lines {
    source: Source,
    cap: usize,
    /// So much of what has come holds no line end.
    searched: usize,
    /// Bytes of this line that were thrown away, since it is over the cap.
    dropped: usize,
}

impl Lines {
    pub fn new(fd: RawFd, cap: usize) -> Lines {
        Lines {
            source: Source::new(fd),
            cap,
            searched: 0,
            dropped: 0,
        }
    }

    /// The next line that is not blank, or `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            let found = self.source.bytes[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            if let Some(found) = found {
                let mut line = self.source.cut(self.searched + found + 1);
                self.searched = 0;
                line.pop();
                if let Some(incoming) = self.line(line) {
                    return Ok(Some(incoming));
                }
                continue;
            }
            // A CR that may belong to the line end is no part of the line, so it is kept.
            if self.source.bytes.len() > self.cap + 1 {
                self.dropped += self.source.bytes.len() - 1;
                self.source.bytes.drain(..self.source.bytes.len() - 1);
            }
            self.searched = self.source.bytes.len();
            match self.source.more(None)? {
                More::Came | More::TooLate => {}
                More::Ended => {
                    let line = std::mem::take(&mut self.source.bytes);
                    self.searched = 0;
                    return Ok(self.line(line));
                }
            }
        }
    }

    fn line(&mut self, mut line: Vec<u8>) -> Option<Incoming> {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let length = std::mem::take(&mut self.dropped) + line.len();
        if length > self.cap {
            return Some(Incoming::Unreadable(too_long(length, self.cap)));
        }
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        (!line.iter().all(space)).then_some(Incoming::Message(line))
    }
}

pub struct Frames {
    source: Source,
    cap: usize,
    stall: Duration,
}

impl Frames {
    pub fn new(fd: RawFd, cap: usize, stall: Duration) -> Frames {
        Frames {
            source: Source::new(fd),
            cap,
            stall,
        }
    }

    /// The next frame, or `None` at an end between frames.
    pub fn next(&mut self) -> io::Result<Option<Incoming>> {
        let begun = |source: &Source| !source.bytes.is_empty();
        let mut deadline = begun(&self.source).then(|| Instant::now() + self.stall);
        loop {
            if let Some(incoming) = self.frame() {
                return Ok(Some(incoming));
            }
            let broken = |why: String| Ok(Some(Incoming::Broken(why)));
            match self.source.more(deadline)? {
                More::Came => deadline = deadline.or_else(|| Some(Instant::now() + self.stall)),
                More::Ended if begun(&self.source) => {
                    return broken("the input ended inside a frame".to_owned())
                }
                More::Ended => return Ok(None),
                More::TooLate => {
                    return broken(format!(
                        "a frame that began did not end within {:?}",
                        self.stall
                    ))
                }
            }
        }
    }

    fn frame(&mut self) -> Option<Incoming> {
        let length = u32::from_be_bytes(*self.source.bytes.first_chunk()?) as usize;
        if length == 0 {
            self.source.cut(4);
            return Some(Incoming::Unreadable(
                "the message is empty: a frame of length 0".to_owned(),
            ));
        }
        if length > self.cap {
            return Some(Incoming::Broken(too_long(length, self.cap)));
        }
        if self.source.bytes.len() < 4 + length {
            return None;
        }
        self.source.cut(4);
        Some(Incoming::Message(self.source.cut(length)))
    }
}

fn too_long(length: usize, cap: usize) -> String {
    format!("the message is {length} bytes long, and the cap is {cap}")
}
