// Package orders rules on small histories of one key: every order of the calls and every instant
// at which they can have taken effect is tried on a lock server of a few lines.
//
// # Why it is complete
//
// An explanation of a history is an order of the calls that took effect, an instant for each
// within its call, and for each lease that matters to an answer whether it was over by then. The
// search enumerates all orders that keep real time, and both answers to each question about a
// lease. What remains are inequalities between two instants: "not before it was invoked", "not
// after it returned", "not before the one before", "the lease that began there was over here".
// Such a system has a solution exactly if its graph has no negative cycle (see instants), so no
// instant has to be guessed. A call of unknown outcome may be left out, or take effect at any
// time after it was invoked.
//
// # What is decided
//
// For each property it says MustFail, MustNot or Free, see [Judge.Rule]. The searches are
//
//   - [search.server]: ownership, truthful replies, re-entrancy and fencing, on one server that
//     may do wrong, each wrong at a price;
//   - [search.duty]: lease honoured.
//
// Each is played by two readings: the narrow one excuses only what certainly is no wrong, and the
// wide one whatever can be excused.
package orders
