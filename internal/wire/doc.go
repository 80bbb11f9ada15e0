// Package wire is a RESP-aware interposer between one client and one node. It
// forwards every byte unchanged and can stop, delay or discard single commands
// and single replies, or the whole link.
//
//	           Link "A"→"n1"
//	       ┌──────────────────────────────────────────────┐
//	       │  Delay     Lose, HoldRequest, Repeat  Freeze │
//	client ─► [ line ] ─ parse ── [ hold ] ──── [ gate ] ──► node
//	  A    │              │ command pushed                │   n1
//	       │              ▼                               │
//	       │           pending (first in, first out)      │
//	       │              │ command popped                │
//	       │              ▼                               │
//	client ◄─ [ gate ] ─ [ hold | drop ] ─ parse ─ [ line ] ◄ node
//	       │   Freeze    HoldReply, DropReply      Delay  │
//	       └──────────────────────────────────────────────┘
//	          Cut closes both ends; Observe sees every step
//
// A Link serves any number of connections at once. Each has two goroutines, one
// per direction; the upper one is the caller of Serve. A line, once there is one, has
// another, which reads ahead. Replies belong to commands in the order in which the
// commands were sent, and RESP3 push frames belong to none.
//
// Some commands end that order: SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE and their
// UN- forms, MONITOR, SYNC, PSYNC and CLIENT REPLY OFF or SKIP. After one of them
// the connection is copied as it is, in both directions. Cut, CutSubscribers, Freeze, Delay
// and Close still act on it; rules and the observer no longer see it. Replication between
// two nodes crosses a Link in the same way.
//
// The package never polls, nor sets a deadline on a served connection. It sleeps by the
// clocks that it was given only: for Delay, after a Freeze, and before it passes on the
// node's end. Otherwise it waits on its own channels and goroutines, never on a mutex, so a
// Link works the same over TCP and in a testing/synctest bubble.
package wire
