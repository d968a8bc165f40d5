//! The sending side of a connection, shared by all that answer on it.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::inflight::Claim;
use crate::lifecycle::Ticket;
use crate::protocol::{MAX_FRAME_BYTES, Outcome, Response, encode};

/// How long a peer may take to accept one frame. Without it a peer that never
/// reads would hold its requests in flight for ever.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// Bytes that may lie in the queue; at more, whoever answers waits, and with
/// it the reading. Room for one frame of any size and much beside it.
const QUEUE_BYTES: usize = 2 * MAX_FRAME_BYTES;

/// What a queued frame counts beside its bytes.
const FRAME_OVERHEAD_BYTES: usize = 128;

/// What a request holds until its answer is written: its id and its share of
/// what the connection owes, and its share of what a stopping daemon awaits.
#[derive(Debug)]
pub struct Admission {
    claim: Claim,
    _ticket: Ticket,
}

impl Admission {
    /// The two shares of one request.
    pub fn new(claim: Claim, ticket: Ticket) -> Self {
        Self {
            claim,
            _ticket: ticket,
        }
    }
}

struct Parcel {
    frame: Vec<u8>,
    _room: OwnedSemaphorePermit,
    _admission: Option<Admission>,
}

/// Queues whole answers. When the last clone is dropped, the rest of the
/// queue is written, and the writer ends.
#[derive(Clone)]
pub struct Outbox {
    queue: UnboundedSender<Parcel>,
    room: Arc<Semaphore>,
}

/// The writing task. It gives the sending side back, if that still works.
pub type Writer = JoinHandle<Option<OwnedWriteHalf>>;

impl Outbox {
    /// An outbox, and the task that empties it into `half`.
    pub fn start(half: OwnedWriteHalf) -> (Self, Writer) {
        let (queue, parcels) = unbounded_channel();
        let room = Arc::new(Semaphore::new(QUEUE_BYTES));
        (Self { queue, room }, tokio::spawn(write_all(half, parcels)))
    }

    /// Answers a request that was let in.
    pub async fn answer(&self, id: u64, outcome: Outcome, mut admission: Admission) {
        admission.claim.free_id();
        self.push(Response { id, outcome }, Some(admission)).await;
    }

    /// Answers what was not let in.
    pub async fn refuse(&self, response: Response) {
        self.push(response, None).await;
    }

    async fn push(&self, response: Response, admission: Option<Admission>) {
        let frame = encode(&response).expect("an answer is smaller than its request");
        let bytes = u32::try_from(frame.len() + FRAME_OVERHEAD_BYTES).expect("the cap is 16 MiB");
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await;
        let parcel = Parcel {
            frame,
            _room: room.expect("the semaphore is never closed"),
            _admission: admission,
        };
        // Fails when the writer has ended: there is nobody to tell any more.
        let _ = self.queue.send(parcel);
    }

    /// Waits until the peer takes no more.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

async fn write_all(
    mut half: OwnedWriteHalf,
    mut parcels: UnboundedReceiver<Parcel>,
) -> Option<OwnedWriteHalf> {
    while let Some(parcel) = parcels.recv().await {
        let written = timeout(WRITE_LIMIT, half.write_all(&parcel.frame)).await;
        if !matches!(written, Ok(Ok(()))) {
            // Part of a frame may be out: nothing readable can follow it.
            return None;
        }
    }
    Some(half)
}
