//! The calls to the kernel that std does not have.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

use libc::{c_int, pollfd};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

pub fn watch(fd: RawFd, events: i16) -> pollfd {
    pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// Waits until one of these has something, or until the deadline: false.
pub fn poll(fds: &mut [pollfd], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let wait = match deadline {
            None => -1,
            // Rounded up, so that nobody wakes just before the deadline and turns in a circle.
            Some(deadline) => {
                let left = deadline
                    .saturating_duration_since(Instant::now())
                    .as_micros();
                left.div_ceil(1000).min(i32::MAX as u128) as c_int
            }
        };
        // SAFETY: the slice is valid for its length.
        match check(unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, wait) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) if deadline.is_some_and(|deadline| Instant::now() < deadline) => {}
            Ok(ready) => return Ok(ready > 0),
        }
    }
}

/// Reads what is there, up to the size of the buffer. 0: the end.
pub fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

pub fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the slice is valid for its length.
    let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Writes to a socket what it takes now, without a signal and without changing its mode.
pub fn send(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the slice is valid for its length.
    let count = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Bytes that the kernel holds for reading; 0 where it cannot tell.
pub fn available(fd: RawFd) -> usize {
    let mut count: c_int = 0;
    // SAFETY: FIONREAD writes one int.
    let done = unsafe { libc::ioctl(fd, libc::FIONREAD, &mut count) };
    if done < 0 {
        0
    } else {
        count.max(0) as usize
    }
}

pub fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain calls on a descriptor that is open.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))?;
        check(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)).map(drop)
    }
}

/// Lets stdout be stderr from now on, and returns what stdout was (ARGV-5).
pub fn set_stdout_aside() -> io::Result<OwnedFd> {
    // SAFETY: the duplicate is new, and owned by nobody else.
    unsafe {
        let kept = check(libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3))?;
        let kept = OwnedFd::from_raw_fd(kept);
        check(libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO))?;
        Ok(kept)
    }
}

/// Lets no child inherit anything but its stdin, stdout and stderr (PIPE-4).
pub fn keep_descriptors() {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: marks descriptors, closes none. An old kernel without the call changes nothing.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flags) };
}

/// A descriptor that is ready for reading once the process has ended.
pub fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is new, and owned by nobody else.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
        Ok(OwnedFd::from_raw_fd(check(fd as c_int)?))
    }
}

pub fn kill_group(leader: u32, signal: c_int) {
    // SAFETY: a plain call. A group without members is no matter.
    unsafe { libc::kill(-(leader as libc::pid_t), signal) };
}

pub fn user() -> u32 {
    // SAFETY: a plain call that cannot fail.
    unsafe { libc::geteuid() }
}

/// The user at the other end of a socket, as the kernel says (SOCK-4).
pub fn peer_user(socket: &impl AsRawFd) -> io::Result<u32> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the option writes at most `length` bytes, the size of a ucred.
    let done = unsafe {
        let into = (&raw mut credentials).cast();
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            into,
            &mut length,
        )
    };
    check(done).map(|_| credentials.uid)
}

/// Takes the one lock of a file, without waiting. False: somebody holds it.
pub fn lock(file: &impl AsRawFd) -> io::Result<bool> {
    // SAFETY: a plain call on a descriptor that is open.
    match check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
