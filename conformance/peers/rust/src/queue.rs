//! What was read and waits to be served (LIMIT-5).

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::limits::WAITING;

/// One thing that came in.
pub enum Incoming {
    Message(Vec<u8>),
    /// No message, and why. It is answered in JSON, and what follows is served.
    Unreadable(String),
    /// The same, and nothing can follow.
    Broken(String),
}

impl Incoming {
    fn bytes(&self) -> usize {
        match self {
            Incoming::Message(bytes) => bytes.len(),
            Incoming::Unreadable(_) | Incoming::Broken(_) => 0,
        }
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Incoming>,
    bytes: usize,
    /// Nothing more is put.
    ended: bool,
    /// Nothing more is taken.
    abandoned: bool,
}

pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    cap: usize,
}

impl Queue {
    /// Holds `WAITING` messages, or as many as have `cap` bytes.
    pub fn new(cap: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            changed: Condvar::new(),
            cap,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room. False: nobody takes it any more.
    pub fn put(&self, incoming: Incoming) -> bool {
        let full = |state: &mut State| {
            !state.abandoned && (state.waiting.len() >= WAITING || state.bytes >= self.cap)
        };
        let state = self.state();
        let mut state = self
            .changed
            .wait_while(state, full)
            .unwrap_or_else(PoisonError::into_inner);
        if !state.abandoned {
            state.bytes += incoming.bytes();
            state.waiting.push_back(incoming);
            self.changed.notify_all();
        }
        !state.abandoned
    }

    /// Waits for the next. `None`: no more comes.
    pub fn take(&self) -> Option<Incoming> {
        let empty = |state: &mut State| state.waiting.is_empty() && !state.ended;
        let state = self.state();
        let mut state = self
            .changed
            .wait_while(state, empty)
            .unwrap_or_else(PoisonError::into_inner);
        let incoming = state.waiting.pop_front()?;
        state.bytes -= incoming.bytes();
        self.changed.notify_all();
        Some(incoming)
    }

    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    pub fn abandon(&self) {
        self.state().abandoned = true;
        self.changed.notify_all();
    }
}
