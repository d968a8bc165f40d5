//! What one connection has in flight.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

#[derive(Debug, Default)]
struct State {
    ids: HashSet<u64>,
    /// Claims whose answer is not written yet. Not the same as `ids`: an id
    /// is free again a moment before its answer is written.
    owed: usize,
}

/// The requests in flight of one connection.
#[derive(Debug, Clone)]
pub struct InFlight(Arc<watch::Sender<State>>);

impl InFlight {
    /// Nothing in flight.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// How many ids are taken.
    pub fn len(&self) -> usize {
        self.0.borrow().ids.len()
    }

    /// Takes the id until its answer; none when it is taken already.
    pub fn claim(&self, id: u64) -> Option<Claim> {
        let claimed = self.0.send_if_modified(|state| {
            let is_new = state.ids.insert(id);
            state.owed += usize::from(is_new);
            is_new
        });
        claimed.then(|| Claim {
            id: Some(id),
            of: self.clone(),
        })
    }

    /// Waits until no answer has been owed for as long as `limit`, counted
    /// from now at the earliest.
    pub async fn idle(&self, limit: Duration) {
        let mut state = self.0.subscribe();
        loop {
            // Cannot fail: the sender is at hand.
            let _ = state.wait_for(|state| state.owed == 0).await;
            tokio::select! {
                () = sleep(limit) => return,
                _ = state.changed() => {}
            }
        }
    }
}

/// One request in flight, until dropped.
#[derive(Debug)]
pub struct Claim {
    id: Option<u64>,
    of: InFlight,
}

impl Claim {
    /// Frees the id. To be called before the answer is written: once it is,
    /// the peer may use the id again at once.
    pub fn free_id(&mut self) {
        if let Some(id) = self.id.take() {
            self.of.0.send_modify(|state| {
                state.ids.remove(&id);
            });
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.free_id();
        self.of.0.send_modify(|state| state.owed -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, timeout};

    const LIMIT: Duration = Duration::from_millis(40);

    #[test]
    fn an_id_is_claimed_once_at_a_time() {
        let in_flight = InFlight::new();
        let mut first = in_flight.claim(1).unwrap();
        assert!(in_flight.claim(1).is_none());
        first.free_id();
        let _second = in_flight.claim(1).unwrap();
        drop(first);
        assert!(in_flight.claim(1).is_none(), "freed by the first's end");
        assert_eq!(in_flight.len(), 1);
    }

    #[tokio::test]
    async fn nobody_is_idle_while_an_answer_is_owed() {
        let in_flight = InFlight::new();
        let mut claim = in_flight.claim(1).unwrap();
        claim.free_id();
        assert!(timeout(LIMIT * 3, in_flight.idle(LIMIT)).await.is_err());
        drop(claim);
        let answered = Instant::now();
        in_flight.idle(LIMIT).await;
        assert!(answered.elapsed() >= LIMIT);
    }
}
