package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where a lock is kept: under some names, in one database of its servers. The zero
// value is nowhere.
type Place struct {
	Database int
	Names    []string
}

// Has reports whether k is one of the place's keys.
func (p Place) Has(k KeyState) bool {
	return k.Database == p.Database && slices.Contains(p.Names, k.Key)
}

// String names the keys, and the database if it is not the first: "orders/42 in database 3".
func (p Place) String() string {
	s := strings.Join(p.Names, ", ")
	if p.Database != 0 {
		s += fmt.Sprintf(" in database %d", p.Database)
	}
	return s
}
