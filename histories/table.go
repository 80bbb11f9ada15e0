package histories

// A table keeps a T for each number, the zero T at first. Numbers that count up from 0, as
// processes and attempts do, take less room and time in it than in a map; any others take as
// much. The zero table is ready to use.
type table[T any] struct {
	pages []*[pageSize]T
	high  map[uint64]*T // the T of every number from highest on
}

const (
	pageSize = 64 // few, so that numbers far apart do not cost much
	highest  = 1 << 24
)

// of returns the T of a number, to be read or set.
func (t *table[T]) of(number uint64) *T {
	if number >= highest {
		return t.beyond(number)
	}
	page := int(number / pageSize)
	for page >= len(t.pages) {
		t.pages = append(t.pages, nil)
	}
	if t.pages[page] == nil {
		t.pages[page] = new([pageSize]T)
	}
	return &t.pages[page][number%pageSize]
}

// all yields every T that may have been set.
func (t *table[T]) all(yield func(*T) bool) {
	for _, page := range t.pages {
		if page == nil {
			continue
		}
		for i := range page {
			if !yield(&page[i]) {
				return
			}
		}
	}
	for _, one := range t.high {
		if !yield(one) {
			return
		}
	}
}

func (t *table[T]) beyond(number uint64) *T {
	if t.high == nil {
		t.high = make(map[uint64]*T)
	}
	known := t.high[number]
	if known == nil {
		known = new(T)
		t.high[number] = known
	}
	return known
}
