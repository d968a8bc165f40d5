//! Unix sockets where std cannot make them: with a mode before they have a name, and with a
//! deadline for a connect.

use std::ffi::OsStr;
use std::io;
use std::mem::{offset_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// Bytes of a path that the kernel has room for, beside the NUL (SOCK-2).
pub const PATH: usize = 107;

/// Connections that may wait to be accepted.
const BACKLOG: libc::c_int = 1024;

fn address(path: &OsStr) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    let bytes = path.as_bytes();
    // An empty path would be no path at all, and one with a NUL another one.
    if bytes.is_empty() || bytes.len() > PATH || bytes.contains(&0) {
        let why = format!(
            "a path of {} bytes; 1 to {PATH} without NUL are possible",
            bytes.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // SAFETY: a sockaddr_un of zeros is a valid one.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let length = offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1;
    Ok((address, length as libc::socklen_t))
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is new, and owned by nobody else.
    unsafe {
        let fd = check(libc::socket(
            libc::AF_UNIX,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// A socket at the path, which has mode 0600 from the first instant it exists.
pub fn listen(path: &OsStr) -> io::Result<UnixListener> {
    let (address, length) = address(path)?;
    let socket = socket()?;
    let fd = socket.as_raw_fd();
    // SAFETY: plain calls on a descriptor that is open, with an address of that length.
    unsafe {
        check(libc::fchmod(fd, 0o600))?;
        check(libc::bind(fd, (&raw const address).cast(), length))?;
        check(libc::listen(fd, BACKLOG))?;
    }
    Ok(UnixListener::from(socket))
}

/// Connects within the time. A listener whose queue stays full is the error `WouldBlock`.
pub fn connect(path: &OsStr, within: Duration) -> io::Result<UnixStream> {
    let (address, length) = address(path)?;
    let stream = UnixStream::from(socket()?);
    // The time for a write is the time for a connect too.
    stream.set_write_timeout(Some(within))?;
    // SAFETY: a plain call on a descriptor that is open, with an address of that length.
    check(unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(stream)
}

/// Whether this is a stream socket of this family that listens, as a service manager passes one.
pub fn listens(socket: &impl AsRawFd) -> bool {
    let option = |name| {
        let mut value: libc::c_int = 0;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: each of these options writes one int.
        let done = unsafe {
            let into = (&raw mut value).cast();
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                name,
                into,
                &mut length,
            )
        };
        if done == 0 {
            value
        } else {
            -1
        }
    };
    option(libc::SO_DOMAIN) == libc::AF_UNIX
        && option(libc::SO_TYPE) == libc::SOCK_STREAM
        && option(libc::SO_ACCEPTCONN) == 1
}
