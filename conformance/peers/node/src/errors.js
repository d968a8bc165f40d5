// Malformed: bytes that break the wire, read by us. It becomes a refusal where it was a call, and fails the call where it was
// a reply.
export class Malformed extends Error {}

// Unwritable: a result that no encoding can hold (ENC-7).
export class Unwritable extends Error {}

// Refusal: what a verb throws to say no. Any other exception out of a verb is a crash.
export class Refusal extends Error {
  constructor(text, fault = 'refused') {
    super(text);
    this.fault = fault;
  }
}

// Unreachable: our own conclusion that a program we called cannot be talked to. The peer has not said it.
export class Unreachable extends Error {}

// CannotServe: why a door does not open, in one sentence for stderr.
export class CannotServe extends Error {}
