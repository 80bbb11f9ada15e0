package plot

import (
	"math"
	"strconv"
	"time"
)

// ticks returns multiples of 1, 2 or 5 times a power of ten between from and to, about as many
// as wanted, and their texts.
func ticks(from, to float64, wanted int) ([]float64, []string) {
	step := nice((to - from) / float64(wanted))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var at []float64
	var texts []string
	for k := math.Ceil(from/step - 1e-9); k*step <= to+step*1e-9 && len(at) <= 2*wanted; k++ {
		at = append(at, k*step)
		text := "0"
		switch {
		case math.Abs(k*step) >= 1e7:
			text = strconv.FormatFloat(k*step, 'g', 3, 64)
		case k != 0:
			text = strconv.FormatFloat(k*step, 'f', decimals, 64)
		}
		texts = append(texts, text)
	}
	return at, texts
}

// nice is the least of 1, 2 and 5 times a power of ten that is not below x, which is above 0.
func nice(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// human is a length of time with three digits and the unit that fits.
func human(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {"µs", time.Microsecond}} {
		if d >= u.size || d <= -u.size {
			return digits(float64(d)/float64(u.size)) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

// digits is x with three digits, and more only before the point.
func digits(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
