//! How the daemon stops: what is in flight is answered, nothing new is let in.

use tokio::sync::watch;

/// The stages of a daemon's life, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Everything is let in.
    Serving,
    /// New requests are refused, those in flight are waited for.
    Stopping,
    /// Nothing is waited for, and connections end.
    Closing,
}

/// The phase of the daemon, and how many requests it has in flight.
#[derive(Debug)]
pub struct Lifecycle {
    phase: watch::Sender<Phase>,
    in_flight: watch::Sender<usize>,
}

impl Lifecycle {
    /// Serving, with nothing in flight.
    pub fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Serving),
            in_flight: watch::Sender::new(0),
        }
    }

    /// The phase now.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Goes on to a later phase.
    pub fn advance(&self, to: Phase) {
        self.phase.send_replace(to);
    }

    /// Waits until the phase is [`Phase::Closing`].
    pub async fn closing(&self) {
        // Cannot fail: the sender is at hand.
        let _ = self
            .phase
            .subscribe()
            .wait_for(|phase| *phase == Phase::Closing)
            .await;
    }

    /// Counts one more request in flight, until the ticket is dropped.
    pub fn enter(&self) -> Ticket {
        self.in_flight.send_modify(|count| *count += 1);
        Ticket(self.in_flight.clone())
    }

    /// Waits until nothing is in flight.
    pub async fn emptied(&self) {
        // Cannot fail: the sender is at hand.
        let _ = self
            .in_flight
            .subscribe()
            .wait_for(|count| *count == 0)
            .await;
    }
}

/// One request in flight.
#[derive(Debug)]
pub struct Ticket(watch::Sender<usize>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
