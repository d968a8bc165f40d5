//! A conversation that this program began: with a child on its pipe, or on a socket.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use libc::pollfd;

use crate::child::Child;
use crate::limits::CALL_ENDING;
use crate::reply::Refusal;
use crate::{stop, sys};

pub enum Link {
    /// Lines, or the one reply of a command line.
    Child(Child),
    /// Frames.
    Socket(UnixStream),
}

pub enum Step {
    Moved,
    /// Nothing more comes.
    End,
}

pub struct Talk {
    pub link: Link,
    /// Who waits for what comes of this, and may go away.
    caller: RawFd,
    deadline: Instant,
    inbox: Vec<u8>,
    /// So much of the inbox holds no line end.
    searched: usize,
    outbox: Vec<u8>,
    /// So much of the outbox has left.
    sent: usize,
    /// Nothing more comes into the inbox.
    over: bool,
    /// Stdin of the child ends with the outbox.
    last: bool,
    /// The other end takes nothing more, though a refusal may still be read (CLIENT-3).
    deaf: bool,
}

impl Talk {
    pub fn new(link: Link, caller: RawFd, deadline: Instant) -> Talk {
        Talk {
            link,
            caller,
            deadline,
            inbox: Vec::new(),
            searched: 0,
            outbox: Vec::new(),
            sent: 0,
            over: false,
            last: false,
            deaf: false,
        }
    }

    /// Sends a message, as a line or as a frame; what is not taken at once, in a later step.
    pub fn send(&mut self, message: &[u8]) {
        match self.link {
            Link::Child(_) => {
                self.outbox.extend(message);
                self.outbox.push(b'\n');
            }
            Link::Socket(_) => {
                self.outbox.extend((message.len() as u32).to_be_bytes());
                self.outbox.extend(message);
            }
        }
        self.write();
    }

    /// Sends these bytes as they are, and then the end.
    pub fn send_all(&mut self, bytes: &[u8]) {
        self.outbox.extend(bytes);
        self.last = true;
        self.write();
    }

    pub fn all_sent(&self) -> bool {
        self.unsent() == 0 && !self.deaf
    }

    /// Bytes that wait to be taken.
    pub fn unsent(&self) -> usize {
        self.outbox.len() - self.sent
    }

    /// The next whole message of those that have come. Blank lines are none.
    pub fn next(&mut self, cap: usize) -> Result<Option<Vec<u8>>, Refusal> {
        if let Link::Socket(_) = self.link {
            return self.next_frame(cap);
        }
        while let Some(found) = self.inbox[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let rest = self.inbox.split_off(self.searched + found + 1);
            let line = std::mem::replace(&mut self.inbox, rest);
            self.searched = 0;
            let end = line.len() - if line.ends_with(b"\r\n") { 2 } else { 1 };
            if end > cap {
                return Err(too_long(end, cap));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
        self.searched = self.inbox.len();
        self.fits(cap).map(|()| None)
    }

    fn next_frame(&mut self, cap: usize) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(head) = self.inbox.first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head) as usize;
        if length > cap {
            return Err(too_long(length, cap));
        }
        if self.inbox.len() < 4 + length {
            return Ok(None);
        }
        let rest = self.inbox.split_off(4 + length);
        let frame = std::mem::replace(&mut self.inbox, rest);
        Ok(Some(frame[4..].to_vec()))
    }

    /// Whether what has come so far may be one message and its line end.
    pub fn fits(&self, cap: usize) -> Result<(), Refusal> {
        if self.inbox.len() > cap + 2 {
            return Err(too_long(self.inbox.len(), cap));
        }
        Ok(())
    }

    /// All that has come and was not taken.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.inbox)
    }

    /// Why nothing more comes.
    pub fn lost(&mut self) -> String {
        match &mut self.link {
            Link::Child(child) => format!("it ended, or closed its stdout: {}", child.end()),
            Link::Socket(_) => "the connection was closed before the reply".to_owned(),
        }
    }

    /// What may happen, in the order of `step`.
    fn watched(&self, ending: bool) -> [pollfd; 6] {
        let unless = |when: bool, fd: RawFd| if when { -1 } else { fd };
        let (reading, writing, stderr, ended) = match &self.link {
            Link::Child(child) => (
                child.stdout(),
                child.stdin().unwrap_or(-1),
                child.stderr(),
                child.ended(),
            ),
            Link::Socket(socket) => (socket.as_raw_fd(), socket.as_raw_fd(), -1, -1),
        };
        [
            sys::watch(reading, libc::POLLIN),
            sys::watch(unless(self.outbox.is_empty(), writing), libc::POLLOUT),
            sys::watch(stderr, libc::POLLIN),
            sys::watch(ended, libc::POLLIN),
            sys::watch(unless(ending, stop::fd()), libc::POLLIN),
            sys::watch(self.caller, 0),
        ]
    }

    /// Waits for something to happen, and takes or sends what is possible. Fails at the deadline,
    /// and where the caller is gone.
    pub fn step(&mut self) -> Result<Step, Refusal> {
        if self.over {
            return Ok(Step::End);
        }
        let ending = stop::deadline(CALL_ENDING);
        let deadline = ending.map_or(self.deadline, |ending| ending.min(self.deadline));
        let mut fds = self.watched(ending.is_some());
        match sys::poll(&mut fds, Some(deadline)) {
            // Whoever always has something to say has no more time for it.
            Ok(true) if Instant::now() < deadline => {}
            Ok(_) if ending.is_some() => {
                return Err(Refusal::unavailable("this program is ending"))
            }
            Ok(_) => return Err(Refusal::unavailable("no reply in time")),
            Err(error) => return Err(Refusal::unavailable(error.to_string())),
        }
        let reading = fds[0].fd;
        let [input, output, stderr, ended, _, caller] = fds.map(|fd| fd.revents != 0);
        if caller {
            return Err(Refusal::unavailable("who called is gone"));
        }
        if output {
            self.write();
        }
        if let (Link::Child(child), true) = (&mut self.link, stderr) {
            child.read_stderr();
        }
        if ended {
            // What the child wrote before is still there.
            let mut there = sys::available(reading);
            while there > 0 && !self.over {
                there = there.saturating_sub(self.read(reading));
            }
            self.over = true;
        } else if input {
            self.read(reading);
        }
        Ok(Step::Moved)
    }

    fn read(&mut self, fd: RawFd) -> usize {
        let mut chunk = [0; 16 << 10];
        match sys::read(fd, &mut chunk) {
            Ok(count) if count > 0 => {
                self.inbox.extend(&chunk[..count]);
                return count;
            }
            Err(error) if is_passing(&error) => {}
            Ok(_) | Err(_) => self.over = true,
        }
        0
    }

    fn write(&mut self) {
        let left = &self.outbox[self.sent..];
        let sent = match &self.link {
            _ if left.is_empty() => Ok(0),
            Link::Child(child) => sys::write(child.stdin().unwrap_or(-1), left),
            Link::Socket(socket) => sys::send(socket.as_raw_fd(), left),
        };
        match sent {
            Ok(count) => self.sent += count,
            Err(error) if is_passing(&error) => {}
            Err(_) => {
                self.deaf = true;
                self.sent = self.outbox.len();
            }
        }
        if self.sent < self.outbox.len() {
            return;
        }
        self.outbox.clear();
        self.sent = 0;
        if let (Link::Child(child), true) = (&mut self.link, self.last) {
            child.close_stdin();
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn too_long(length: usize, cap: usize) -> Refusal {
    Refusal::malformed(format!(
        "a message of at least {length} bytes came, and the cap is {cap}"
    ))
}
