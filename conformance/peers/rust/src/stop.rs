//! How the program learns that it has to end: by SIGTERM or SIGINT, by the end of the process it
//! is tied to (PIPE-5), or, a pipe, by the end of its stdin (PIPE-3).

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::sys;

/// What the signal handler writes to. What is written is never read, so that the other end stays
/// ready, for everybody who polls it.
static WAKE: AtomicI32 = AtomicI32::new(-1);
static TOLD: AtomicBool = AtomicBool::new(false);
static WAIT: OnceLock<RawFd> = OnceLock::new();
static SINCE: OnceLock<Instant> = OnceLock::new();

/// Takes SIGTERM and SIGINT from now on.
pub fn install() -> io::Result<()> {
    let (wait, wake) = io::pipe()?;
    // However many signals come, a handler never waits for room.
    sys::set_nonblocking(wake.as_raw_fd())?;
    WAKE.store(wake.into_raw_fd(), Ordering::SeqCst);
    WAIT.get_or_init(|| wait.into_raw_fd());
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let handler: extern "C" fn(libc::c_int) = on_signal;
        // SAFETY: the handler does what is allowed in one: it stores, and writes a byte.
        if unsafe { libc::signal(signal, handler as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn on_signal(_: libc::c_int) {
    // SAFETY: errno is this thread's own, and whoever was interrupted finds it as it was.
    unsafe {
        let errno = *libc::__errno_location();
        tell();
        *libc::__errno_location() = errno;
    }
}

/// Ends the program as SIGTERM would.
pub fn tell() {
    TOLD.store(true, Ordering::SeqCst);
    end();
}

/// No more calls come: what was read is answered, and then the program ends.
pub fn end() {
    let _ = sys::write(WAKE.load(Ordering::SeqCst), &[0]);
}

/// Ready for reading once the program has to end.
pub fn fd() -> RawFd {
    *WAIT.get().unwrap_or(&-1)
}

/// Whether the program was told to end, and is not just at the end of its input.
pub fn was_told() -> bool {
    TOLD.load(Ordering::SeqCst)
}

/// The time that is `after` the instant at which the program had to end; `None` while it has not.
pub fn deadline(after: Duration) -> Option<Instant> {
    let mut wait = [sys::watch(fd(), libc::POLLIN)];
    let ending = sys::poll(&mut wait, Some(Instant::now())).unwrap_or(false);
    ending.then(|| *SINCE.get_or_init(Instant::now) + after)
}

/// Ends the program when that process ends. One that is not there, or that started after this
/// program and so bears a recycled number, has ended.
pub fn tie(pid: u32) -> io::Result<()> {
    let process = match sys::pidfd(pid) {
        Ok(process) => Some(process).filter(|_| started(&pid.to_string()) <= started("self")),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::EINVAL)) => None,
        Err(error) => return Err(error),
    };
    let Some(process) = process else {
        tell();
        return Ok(());
    };
    thread::Builder::new().spawn(move || {
        let mut wait = [sys::watch(process.as_raw_fd(), libc::POLLIN)];
        if let Err(error) = sys::poll(&mut wait, None) {
            let _ = writeln!(io::stderr(), "peer: cannot wait for process {pid}: {error}");
        }
        tell();
    })?;
    Ok(())
}

/// When a process started, in ticks since the boot; the latest there is, where nothing tells.
fn started(process: &str) -> u64 {
    let stat = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    // The second field may hold anything, and ends with the last parenthesis; this is the 22nd.
    let field = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(19));
    field
        .and_then(|ticks| ticks.parse().ok())
        .unwrap_or(u64::MAX)
}
