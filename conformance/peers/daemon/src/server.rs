//! The server: its socket, and its end.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{self, Daemon};
use crate::gates::Gates;
use crate::lifecycle::{Lifecycle, Phase};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 128;

/// How long a stopping daemon waits for gates to open. Requests that still
/// wait then are answered that it is shutting down.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// How long the last answers may take to be accepted by their peers.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// How long to let be after a failed accept: out of descriptors, most likely,
/// which only the end of some connection mends.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves on a socket at `path` until SIGTERM.
pub async fn serve(path: &str, idle_limit: Duration) -> io::Result<()> {
    // Before the socket is announced: a signal sent upon that must be heard.
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = bind(Path::new(path)).await?;
    announce(path)?;

    let daemon = Arc::new(Daemon {
        lifecycle: Lifecycle::new(),
        gates: Gates::default(),
        idle_limit,
    });
    let mut connections = JoinSet::new();
    tokio::select! {
        () = accept(&listener, &daemon, &mut connections) => {}
        _ = terminate.recv() => {}
    }
    daemon.lifecycle.advance(Phase::Stopping);
    tokio::select! {
        // Whoever comes now is told so.
        () = accept(&listener, &daemon, &mut connections) => {}
        _ = timeout(STOP_LIMIT, daemon.lifecycle.emptied()) => {}
    }
    let removed = match fs::remove_file(path) {
        // Somebody else was first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    drop(listener);
    daemon.lifecycle.advance(Phase::Closing);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    // Too late is too late: the peers that do not read lose their answers.
    let _ = timeout(CLOSE_LIMIT, all_ended).await;
    removed
}

/// Accepts connections, for as long as it is polled.
async fn accept(listener: &UnixListener, daemon: &Arc<Daemon>, connections: &mut JoinSet<()>) {
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(stream, Arc::clone(daemon)));
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn bind(path: &Path) -> io::Result<UnixListener> {
    clear_stale(path).await?;
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    // Between bind and listen nobody can connect, so there is no moment at
    // which the socket is open to others.
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    socket.listen(BACKLOG)
}

/// Removes a socket that nobody listens to; leaves anything else alone.
async fn clear_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    if !is_socket {
        // Nothing there, or something that bind itself will refuse.
        return Ok(());
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        // Someone listens: bind will refuse that, too.
        _ => Ok(()),
    }
}

fn announce(path: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, r#"{{"event":"listening","at":{}}}"#, json!(path))?;
    stdout.flush()
}
