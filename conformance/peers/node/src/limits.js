// The numbers of the contract, each in one place.

export const FAMILY = 1;
export const SURFACE = 1;

const MIB = 1024 * 1024;
export const CAP_NEAR = 16 * MIB; // cli and pipe: a program and the one that started it
export const CAP_SOCKET = MIB;
export const CAP_LEAST = 256; // below this not even a refusal would fit

// What a reader of one message takes at most (ENC-5). A door adds its cap.
export const LIMITS = { depth: 64, items: 262_144, intBits: 1024 };

// What an error says of each that was passed.
export const OVER = {
  depth: ({ depth }) => `over the depth limit of ${depth} open maps and lists`,
  items: ({ items }) => `over the items limit of ${items} members and elements`,
  intBits: ({ intBits }) => `over the intbits limit of ${intBits} bits for an integer`,
};

export const DEPTH_MOST = 1_000; // the readers and writers are recursive

export const QUOTED_BYTES = 64;

export const WAITING_MESSAGES = 1024; // read, and not yet served

export const DIAL_MS = 2_000;
export const CALL_MS = 30_000;
export const CHILD_GRACE_MS = 2_000;
export const DRAIN_MS = 5_000;
export const BREAK_OFF_MS = 500; // before the end of that: what still waits on others is told, to answer in time
export const STALL_MS = 30_000;
export const CONNECTIONS = 1024;
export const SOCKET_PATH_BYTES = 107; // 108 with the NUL
