package checker

// strictExclusion judges mutual exclusion in the strict reading: acquire and
// release are linearizable as an owner-aware mutex whose state is the attempt
// that holds it. The belief of an attempt runs from its acquire's return to the
// invocation of its first release, or to a recorded lost, abandon or crash. Two
// beliefs of one key never overlap. No lease ends a belief: a client that sleeps
// through its lease still believes.
func strictExclusion() judge {
	return exclusion{read: strictSections, interval: sweep, porcupine: linearizable}.judge
}
