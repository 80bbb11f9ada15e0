// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.

package nemesis

// All lists every kind, also those that schedules alone can begin.
func All() []Kind {
	return []Kind{
		pauseKind(),
		crashKind(),
		partitionKind(),
		oneWayKind(),
		lateKind(),
		lostReplyKind(),
		hungReplyKind(),
		latencyKind(),
		renewalCutKind(),
		subscriberCutKind(),
		duplicateKind(),
		restartKind(),
		restartAOFKind(),
		restartDelayedKind(),
		powerLossKind(),
		stallKind(),
		clockKind(),
		clockRateKind(),
		clientClockKind(),
		clientClockRateKind(),
		replicationKind(),
		replicationLagKind(),
		failoverKind(),
		sentinelKind(),
		splitBrainKind(),
		partialReplicationKind(),
		demoteKind(),
		scriptFlushKind(),
		flushKind(),
		evictKind(),
		oomKind(),
		squatterKind(),
		disconnectKind(),
		isolateKind(),
		dropReplicationKind(),
		clockAheadKind(),
		killKind(),
		promoteKind(),
		pauseThreadKind(),
	}
}
