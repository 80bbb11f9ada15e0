package histories

import "fmt"

// WorkerName is what people call a worker: A, B, ... Z, and client 27 and so on.
// Nemesis is nemesis.
func WorkerName(worker int) string {
	switch {
	case worker < 0:
		return "nemesis"
	case worker < 26:
		return string(rune('A' + worker))
	}
	return fmt.Sprintf("client %d", worker+1)
}
