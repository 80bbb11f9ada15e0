package checker

// StrictExclusion is what strictExclusion judges.
const StrictExclusion Property = "mutual-exclusion"

func strictExclusionSpec() spec {
	return spec{
		property:   StrictExclusion,
		definition: "nobody gets the lock between another's grant and its release, however long the lease; readers may share it, and a holder may re-enter it",
		judge:      strictExclusion,
		engine:     exclusionEngines,
		counts:     holding(),
	}
}

// strictExclusion judges mutual exclusion in the strict reading: acquire and
// release are linearizable as an owner-aware mutex whose state is the attempt
// that holds it. The belief of an attempt runs from its acquire's return to the
// invocation of its first release, or to a recorded lost, abandon or crash. Two
// beliefs of one key never overlap, unless both are ready to share: readers with readers,
// and re-entries with the other holds of their worker. No lease ends a belief: a client
// that sleeps through its lease still believes.
func strictExclusion(rec *record, opt Options) judge {
	return &exclusion{record: rec, read: strictSections, interval: sweep, porcupine: linearizable, while: believedIn, opt: opt}
}

// believedIn is when no grant may come in either reading of belief.
const believedIn = "another attempt was believed to hold the key"
