package checker

// LeaseExclusion is what leaseExclusion judges.
const LeaseExclusion Property = "lease-exclusion"

func leaseExclusionSpec() spec {
	return spec{
		property:   LeaseExclusion,
		definition: "nobody gets the lock while another believes to hold it, which ends with the release or at the deadline that the lock told",
		judge:      leaseExclusion,
		engine:     exclusionEngines,
		counts:     holding(),
	}
}

// leaseExclusion judges mutual exclusion as the holders believed it: the
// definition of the strict reading, but a belief also ends at the deadline that
// the lock told its holder when it was acquired or last extended. At the deadline
// itself the lease is over. Deadline 0 is never. A lock that computes its
// deadlines too late fails here; one whose holders sleep past a correct deadline
// does not.
func leaseExclusion(rec *record, opt Options) judge {
	return &exclusion{record: rec, read: leaseSections, interval: sweep, porcupine: linearizable, while: believedIn, opt: opt}
}
