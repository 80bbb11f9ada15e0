//go:build !unix

package sim

import "time"

// processorTime is not known here. Its place takes real time: a run that stands still is taken to have had its turn.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
