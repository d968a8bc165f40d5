//! The socket: connections at the same time, and the messages of each one after the other (SOCK-5).

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::Place;
use crate::answer::{self, Outcome};
use crate::limits::{Limits, CLOSE, ENDING, STACK};
use crate::message::Encoding;
use crate::queue::{Incoming, Queue};
use crate::reply::{self, Refusal};
use crate::source::Frames;
use crate::verbs::{Context, Door};
use crate::{stop, sys};

/// Until the next attempt, where the system has no descriptor, memory or thread left.
const SHORTAGE: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub struct Config {
    pub limits: Limits,
    pub connections: usize,
    pub stall: Duration,
}

/// How many connections there are.
#[derive(Default)]
struct Crowd {
    count: Mutex<usize>,
    left: Condvar,
}

impl Crowd {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place among at most so many. `None`: all are taken.
    fn enter(self: &Arc<Crowd>, most: usize) -> Option<Seat> {
        let mut count = self.count();
        (*count < most).then(|| {
            *count += 1;
            Seat(Arc::clone(self))
        })
    }

    fn wait_until_empty(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let _ = self
            .left
            .wait_timeout_while(self.count(), left, |count| *count > 0);
    }
}

struct Seat(Arc<Crowd>);

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.count() -= 1;
        self.0.left.notify_all();
    }
}

/// Accepts until the program is told to end, and then waits for what is being answered.
pub fn serve(place: &Place, config: &Config) -> io::Result<()> {
    let crowd = Arc::new(Crowd::default());
    loop {
        let mut fds = [
            sys::watch(place.listener.as_raw_fd(), libc::POLLIN),
            sys::watch(stop::fd(), libc::POLLIN),
        ];
        sys::poll(&mut fds, None)?;
        if let Some(deadline) = stop::deadline(ENDING) {
            crowd.wait_until_empty(deadline);
            return Ok(());
        }
        let served = place
            .listener
            .accept()
            .and_then(|(stream, _)| welcome(stream, &crowd, config));
        if let Err(error) = served {
            if matches!(
                error.kind(),
                io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
            ) {
                continue;
            }
            log(&format!("cannot take a connection: {error}"));
            let mut ending = [sys::watch(stop::fd(), libc::POLLIN)];
            sys::poll(&mut ending, Some(Instant::now() + SHORTAGE))?;
        }
    }
}

fn log(what: &str) {
    let _ = writeln!(io::stderr(), "peer: {what}");
}

/// Lets the kernel say who it is, before the first byte (SOCK-4), and gives it a thread.
fn welcome(stream: UnixStream, crowd: &Arc<Crowd>, config: &Config) -> io::Result<()> {
    if !sys::peer_user(&stream).is_ok_and(|user| user == sys::user()) {
        return Ok(());
    }
    let Some(seat) = crowd.enter(config.connections) else {
        let text = format!(
            "{} connections are the limit, and they are open",
            config.connections
        );
        let refusal = reply::write(
            Err(Refusal::refused(text)),
            false,
            Encoding::Json,
            &config.limits,
        );
        let _ = sys::send(stream.as_raw_fd(), &framed(&refusal));
        return Ok(());
    };
    let connection = Arc::new(Connection {
        stream,
        queue: Queue::new(config.limits.frame),
        config: config.clone(),
    });
    thread::Builder::new().stack_size(STACK).spawn(move || {
        connection.read();
        drop(seat);
    })?;
    Ok(())
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut frame = (message.len() as u32).to_be_bytes().to_vec();
    frame.extend(message);
    frame
}

struct Connection {
    stream: UnixStream,
    queue: Queue,
    config: Config,
}

impl Connection {
    /// Reads to the end, while another thread answers. That one begins with the first message, so
    /// that a silent connection costs one thread.
    fn read(self: &Arc<Connection>) {
        let mut frames = Frames::new(
            self.stream.as_raw_fd(),
            self.config.limits.frame,
            self.config.stall,
        );
        let mut answering = None;
        loop {
            let incoming = match frames.next() {
                Ok(Some(incoming)) => incoming,
                Ok(None) => break,
                Err(error) => {
                    log(&format!("a connection cannot be read: {error}"));
                    break;
                }
            };
            if answering.is_none() {
                let connection = Arc::clone(self);
                let begun = thread::Builder::new()
                    .stack_size(STACK)
                    .spawn(move || connection.answer());
                match begun {
                    Ok(thread) => answering = Some(thread),
                    Err(error) => return log(&format!("a connection cannot be answered: {error}")),
                }
            }
            let last = matches!(incoming, Incoming::Broken(_));
            if !self.queue.put(incoming) || last {
                break;
            }
        }
        self.queue.end();
        if let Some(thread) = answering {
            let _ = thread.join();
        }
        self.discard();
    }

    fn answer(&self) {
        if let Err(why) = self.answer_all() {
            log(&format!("a connection was closed: {why}"));
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        self.queue.abandon();
    }

    fn answer_all(&self) -> Result<(), String> {
        let context = Context {
            door: Door::Socket,
            caller: self.stream.as_raw_fd(),
        };
        while let Some(incoming) = self.queue.take() {
            match answer::to(incoming, &context, &self.config.limits) {
                Outcome::Reply(message) => {
                    self.send(&message).map_err(|error| error.to_string())?
                }
                Outcome::Last(message) => {
                    return self.send(&message).map_err(|error| error.to_string())
                }
                Outcome::Nothing => {}
                Outcome::Unasked => return Err("a reply came for which no call waits".to_owned()),
            }
        }
        Ok(())
    }

    /// A peer that takes nothing for the time of a stall is given up, and so is one that holds up
    /// the end of this program.
    fn send(&self, message: &[u8]) -> io::Result<()> {
        let fd = self.stream.as_raw_fd();
        let frame = framed(message);
        let mut bytes = frame.as_slice();
        while !bytes.is_empty() {
            match sys::send(fd, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_for_room()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self) -> io::Result<()> {
        let stalled = Instant::now() + self.config.stall;
        loop {
            let ending = stop::deadline(ENDING);
            let wake = if ending.is_some() { -1 } else { stop::fd() };
            let deadline = ending.map_or(stalled, |ending| ending.min(stalled));
            let mut fds = [
                sys::watch(self.stream.as_raw_fd(), libc::POLLOUT),
                sys::watch(wake, libc::POLLIN),
            ];
            if !sys::poll(&mut fds, Some(deadline))? {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the peer takes nothing",
                ));
            }
            if fds[0].revents != 0 {
                return Ok(());
            }
        }
    }

    /// Says that nothing more comes, and reads what is here, since a close over unread bytes would
    /// look like a failure to the peer.
    fn discard(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let deadline = Instant::now() + CLOSE;
        let mut chunk = [0; 4096];
        while sys::available(self.stream.as_raw_fd()) > 0 && Instant::now() < deadline {
            if !sys::read(self.stream.as_raw_fd(), &mut chunk).is_ok_and(|count| count > 0) {
                return;
            }
        }
    }
}
