package plot_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/report/plot"
)

func BenchmarkDraw(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1e3", 1e3}, {"1e5", 1e5}, {"1e6", 1e6}} {
		b.Run(size.name, func(b *testing.B) {
			r := random(size.n, 20, 3, time.Minute)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plot.Draw(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
