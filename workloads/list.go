// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.

package workloads

// Kinds lists every random load, the default first.
func Kinds() []Kind {
	return []Kind{
		contendKind(),
		incrementKind(),
		reentrantKind(),
		readWriteKind(),
		lotteryKind(),
		swarmKind(),
	}
}
