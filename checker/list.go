// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.

package checker

// bench is every property with its judge, in the order of reports.
func bench() []seat {
	return []seat{
		strictExclusionSeat(),
		leaseExclusionSeat(),
		leaseHonouredSeat(),
		ownershipSeat(),
		truthfulRepliesSeat(),
		resourceSafetySeat(),
		fencingSeat(),
		counterSafetySeat(),
		singleWinnerSeat(),
		reentrancySeat(),
		deadlockFreedomSeat(),
		availabilitySeat(),
		fairnessSeat(),
		loadSeat(),
	}
}
