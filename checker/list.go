// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.

package checker

// allSpecs are all properties with their judges, in the order of reports.
func allSpecs() []spec {
	return []spec{
		strictExclusionSpec(),
		leaseExclusionSpec(),
		leaseHonouredSpec(),
		ownershipSpec(),
		truthfulRepliesSpec(),
		resourceSafetySpec(),
		fencingSpec(),
		counterSafetySpec(),
		singleWinnerSpec(),
		reentrancySpec(),
		deadlockFreedomSpec(),
		availabilitySpec(),
		fairnessSpec(),
		loadSpec(),
	}
}
