//! One connection of the server.

use std::future::pending;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as Handle;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt, BufReader, copy, sink};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::gates::{Gates, Opening};
use crate::inflight::InFlight;
use crate::lifecycle::{Lifecycle, Phase};
use crate::methods::{self, Action};
use crate::outbox::{Admission, Outbox, Writer};
use crate::protocol::{Outcome, ProtocolError, Request, Response, RpcError, code, read_request};

#[cfg(test)]
mod tests;

/// Requests that one connection may have waiting at gates.
const MAX_WAITING: usize = 65_536;

/// How long what follows a bad frame is still swallowed.
const LINGER_LIMIT: Duration = Duration::from_secs(2);

/// The id of an answer to what could not be read.
const NO_ID: u64 = 0;

/// What all connections share.
#[derive(Debug)]
pub struct Daemon {
    /// Whether the daemon is stopping, and what keeps it from that.
    pub lifecycle: Lifecycle,
    /// Where `agent.wait` waits.
    pub gates: Gates,
    /// How long a connection that is owed nothing may take to send a whole
    /// request.
    pub idle_limit: Duration,
}

type Reader = BufReader<OwnedReadHalf>;

/// Serves one connection to its end.
pub async fn serve(stream: UnixStream, daemon: Arc<Daemon>) {
    // Out of descriptors: the connection is closed at once.
    let Ok(handle) = stream.as_fd().try_clone_to_owned().map(Handle::from) else {
        return;
    };
    let closing = async {
        daemon.lifecycle.closing().await;
        // What the peer has sent so far is still read, and answered; what it
        // sends from now on fails on its side.
        let _ = handle.shutdown(Shutdown::Read);
        pending().await
    };
    let (reader, writer) = stream.into_split();
    let (outbox, writer) = Outbox::start(writer);
    let connection = Connection {
        outbox,
        in_flight: InFlight::new(),
        daemon: Arc::clone(&daemon),
        waiting: JoinSet::new(),
    };
    tokio::select! {
        () = connection.run(BufReader::new(reader), writer) => {}
        () = closing => {}
    }
}

struct Connection {
    outbox: Outbox,
    in_flight: InFlight,
    daemon: Arc<Daemon>,
    /// The tasks of the requests that wait.
    waiting: JoinSet<()>,
}

/// Why a connection takes no more requests.
enum End {
    /// The peer sends no more. It may still wait for its answers.
    HungUp,
    /// Nothing after a bad frame can be trusted.
    Malformed(ProtocolError),
    /// The peer is gone, or was silent for too long.
    Lost,
    /// What follows are raw bytes.
    Upgraded(u64, Admission),
}

impl Connection {
    async fn run(mut self, mut reader: Reader, writer: Writer) {
        let end = self.take_requests(&mut reader).await;
        match end {
            End::HungUp => self.finish_waiting().await,
            End::Lost => self.waiting.shutdown().await,
            End::Malformed(ref why) => {
                self.waiting.shutdown().await;
                let error = RpcError::new(code::MALFORMED_FRAME, why);
                self.refuse(NO_ID, error).await;
            }
            End::Upgraded(id, admission) => {
                self.finish_waiting().await;
                self.outbox.answer(id, acknowledgement(), admission).await;
                drop(self);
                if let Ok(Some(half)) = writer.await {
                    // An error means that the peer is gone.
                    let _ = echo(reader, half).await;
                }
                return;
            }
        }
        drop(self);
        let Ok(Some(mut half)) = writer.await else {
            return;
        };
        let _ = half.shutdown().await;
        if matches!(end, End::Malformed(_)) {
            // To close with bytes unread is a reset, which would look like a
            // crash to a peer that is still sending.
            let _ = timeout(LINGER_LIMIT, copy(&mut reader, &mut sink())).await;
        }
    }

    async fn take_requests(&mut self, reader: &mut Reader) -> End {
        loop {
            let request = match self.next_request(reader).await {
                Ok(request) => request,
                Err(ProtocolError::HungUp) => return End::HungUp,
                Err(ProtocolError::Io(_)) => return End::Lost,
                // It was not the peer that cut its frame short.
                Err(ProtocolError::Truncated)
                    if self.daemon.lifecycle.phase() == Phase::Closing =>
                {
                    return End::HungUp;
                }
                Err(why) => return End::Malformed(why),
            };
            let id = request.id;
            match self.start(request) {
                Err(error) => self.refuse(id, error).await,
                Ok((Action::Answer(outcome), admission)) => {
                    self.outbox.answer(id, outcome, admission).await;
                }
                Ok((Action::Wait(opening, result), admission)) => {
                    self.wait(id, opening, result, admission);
                }
                Ok((Action::Upgrade, admission)) => return End::Upgraded(id, admission),
            }
        }
    }

    async fn next_request(&self, reader: &mut Reader) -> Result<Request, ProtocolError> {
        let gone = |kind: io::ErrorKind| Err(ProtocolError::Io(kind.into()));
        tokio::select! {
            read = read_request(reader) => read,
            () = self.in_flight.idle(self.daemon.idle_limit) => gone(io::ErrorKind::TimedOut),
            () = self.outbox.closed() => gone(io::ErrorKind::BrokenPipe),
        }
    }

    /// Lets a request in and starts it, or says why not.
    fn start(&self, request: Request) -> Result<(Action, Admission), RpcError> {
        let id = request.id;
        let busy = |why: String| RpcError::new(code::BUSY, why);
        if self.daemon.lifecycle.phase() != Phase::Serving && request.method != methods::OPEN {
            return Err(stopping());
        }
        let others = self.in_flight.len();
        if others >= MAX_WAITING && request.method != methods::OPEN {
            return Err(busy(format!("{others} requests are in flight")));
        }
        let claim = self
            .in_flight
            .claim(id)
            .ok_or_else(|| busy(format!("id {id} is in flight")))?;
        let ticket = self.daemon.lifecycle.enter();
        let action = methods::start(request, &self.daemon.gates)?;
        if matches!(action, Action::Upgrade) && others > 0 {
            // Their answers would have no place in the raw stream.
            return Err(busy(format!("{others} other requests are in flight")));
        }
        Ok((action, Admission::new(claim, ticket)))
    }

    async fn refuse(&self, id: u64, error: RpcError) {
        let outcome = Err(error);
        self.outbox.refuse(Response { id, outcome }).await;
    }

    fn wait(&mut self, id: u64, opening: Opening, result: Box<RawValue>, admission: Admission) {
        // What has ended is taken out here, or the set would only grow.
        while self.waiting.try_join_next().is_some() {}
        let outbox = self.outbox.clone();
        let daemon = Arc::clone(&self.daemon);
        self.waiting.spawn(async move {
            let outcome = tokio::select! {
                biased;
                Ok(()) = opening => Ok(result),
                () = daemon.lifecycle.closing() => Err(stopping()),
            };
            outbox.answer(id, outcome, admission).await;
        });
    }

    async fn finish_waiting(&mut self) {
        while self.waiting.join_next().await.is_some() {}
    }
}

fn stopping() -> RpcError {
    RpcError::new(code::SHUTTING_DOWN, "the daemon is stopping")
}

fn acknowledgement() -> Outcome {
    Ok(RawValue::from_string(r#"{"upgraded":true}"#.to_owned()).expect("it is JSON"))
}

/// Sends every byte back until the peer ends its sending. The reader comes
/// with what it has read ahead: bytes right behind the request are the
/// stream's.
async fn echo(mut reader: Reader, mut writer: OwnedWriteHalf) -> io::Result<()> {
    copy(&mut reader, &mut writer).await?;
    writer.shutdown().await
}
