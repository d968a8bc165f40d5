//! Named gates, at which requests wait for other requests.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// Resolves when its gate is opened.
pub type Opening = oneshot::Receiver<()>;

/// The gates of a daemon, by name. An opening that nobody waits for is kept
/// for the next who comes, so that the two need no order between them.
///
/// An entry lives until its opening has met someone who waits.
#[derive(Debug, Default)]
pub struct Gates(Mutex<HashMap<String, Gate>>);

#[derive(Debug)]
enum Gate {
    Awaited(Vec<oneshot::Sender<()>>),
    Opened,
}

impl Gates {
    /// Queues at the gate. The place is taken on return, not on first poll.
    pub fn wait(&self, name: String) -> Opening {
        let (sender, opening) = oneshot::channel();
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match gates.remove(&name) {
            // Cannot fail: the receiver is at hand.
            Some(Gate::Opened) => drop(sender.send(())),
            Some(Gate::Awaited(mut queue)) => {
                queue.push(sender);
                gates.insert(name, Gate::Awaited(queue));
            }
            None => drop(gates.insert(name, Gate::Awaited(vec![sender]))),
        }
        opening
    }

    /// Lets all through who wait at the gate, or else the next who comes.
    pub fn open(&self, name: String) {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_used = false;
        if let Some(Gate::Awaited(queue)) = gates.remove(&name) {
            for waiting in queue {
                // One whose connection ended does not count.
                is_used |= waiting.send(()).is_ok();
            }
        }
        if !is_used {
            gates.insert(name, Gate::Opened);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(opening: &mut Opening) -> bool {
        opening.try_recv().is_ok()
    }

    #[test]
    fn an_opening_lets_all_through_who_wait_at_that_gate() {
        let gates = Gates::default();
        let [mut first, mut second, mut other] =
            ["a", "a", "b"].map(|name| gates.wait(name.to_owned()));
        gates.open("a".to_owned());
        assert!(is_open(&mut first) && is_open(&mut second));
        assert!(!is_open(&mut other));
        assert!(!is_open(&mut gates.wait("a".to_owned())), "it closed again");
    }

    #[test]
    fn an_opening_before_the_wait_is_kept_for_one() {
        let gates = Gates::default();
        drop(gates.wait("a".to_owned()));
        gates.open("a".to_owned());
        assert!(is_open(&mut gates.wait("a".to_owned())));
        assert!(!is_open(&mut gates.wait("a".to_owned())));
    }
}
