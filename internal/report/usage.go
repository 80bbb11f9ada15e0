package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// shareFrom is how long a process must have been looked at for its share of a processor
// to mean something: its time is counted in hundredths of a second.
const shareFrom = time.Second

// usage tells what each process took of the machine.
func (p *printer) usage(all []histories.Usage) {
	var parts []string
	for _, u := range all {
		parts = append(parts, fmt.Sprintf("%s %s, up to %s and %s", show(u.Process), Processor(u), Megabytes(u.Resident), words.Count(u.Threads, "thread")))
	}
	if len(parts) > 0 {
		p.para("Used:    ", strings.Join(parts, "; ")+".", p.dim)
	}
}

// Processor tells what a process took of a processor.
func Processor(u histories.Usage) string {
	if u.Over < shareFrom {
		return fmt.Sprintf("%.2f s CPU", u.CPU.Seconds())
	}
	return fmt.Sprintf("%.1f %% CPU", 100*u.Share())
}

// Megabytes shows a number of bytes.
func Megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
