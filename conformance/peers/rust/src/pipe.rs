//! The pipe: stdin and stdout, held open by the program that started this one (PIPE-1).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::answer::{self, Outcome};
use crate::limits::{Limits, ENDING, STALL};
use crate::queue::Queue;
use crate::source::Lines;
use crate::verbs::{Context, Door};
use crate::{stop, sys};

/// What a pipe takes without waiting, once it is ready for any.
const ATOMIC: usize = libc::PIPE_BUF;

/// Serves until stdin ends or the program is told to. `Err`: one sentence on what went wrong.
pub fn serve(stdout: &OwnedFd, limits: &Limits) -> Result<(), String> {
    let queue = Arc::new(Queue::new(limits.frame));
    let reading = Arc::clone(&queue);
    let mut lines = Lines::new(libc::STDIN_FILENO, limits.frame);
    let reader = thread::Builder::new()
        .spawn(move || read(&mut lines, &reading))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let context = Context {
        door: Door::Pipe,
        caller: stdout.as_raw_fd(),
    };
    while let Some(incoming) = queue.take() {
        match answer::to(incoming, &context, limits) {
            Outcome::Reply(mut line) | Outcome::Last(mut line) => {
                line.push(b'\n');
                write(stdout.as_raw_fd(), &line)
                    .map_err(|error| format!("cannot write to stdout: {error}"))?;
            }
            Outcome::Nothing => {}
            Outcome::Unasked => return Err("a reply came for which no call waits".to_owned()),
        }
    }
    match reader.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("cannot read stdin: {error}")),
        Err(_) => Err("a panic while reading stdin".to_owned()),
    }
}

/// Reads to the end, which is also the end of the program.
fn read(lines: &mut Lines, queue: &Queue) -> io::Result<()> {
    let mut read = lines.next();
    while let Ok(Some(incoming)) = read {
        queue.put(incoming);
        read = lines.next();
    }
    stop::end();
    queue.end();
    read.map(drop)
}

/// Writes all of it, without a change to the mode of a descriptor that others share. A pager may
/// hold it up for as long as it likes, but not the end of this program.
pub fn write(fd: RawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let deadline = match stop::deadline(ENDING) {
            Some(ending) if stop::was_told() => Some(ending),
            Some(_) => Some(Instant::now() + STALL),
            None => None,
        };
        let ending = if deadline.is_some() { -1 } else { stop::fd() };
        let mut fds = [
            sys::watch(fd, libc::POLLOUT),
            sys::watch(ending, libc::POLLIN),
        ];
        if !sys::poll(&mut fds, deadline)? {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
        }
        if fds[0].revents == 0 {
            continue;
        }
        match sys::write(fd, &bytes[..bytes.len().min(ATOMIC)]) {
            Ok(count) => bytes = &bytes[count..],
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
