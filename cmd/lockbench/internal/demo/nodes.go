package demo

import (
	"slices"
	"strconv"
	"strings"
)

// together names nodes, those with numbers that follow each other as one: n1–n3 n5 replica.
func together(nodes []string) string {
	nodes = slices.Sorted(slices.Values(nodes))
	var parts []string
	for i := 0; i < len(nodes); i++ {
		last := i
		for last+1 < len(nodes) && follows(nodes[last], nodes[last+1]) {
			last++
		}
		if last-i >= 2 {
			parts = append(parts, nodes[i]+"–"+nodes[last])
			i = last
			continue
		}
		parts = append(parts, nodes[i])
	}
	return strings.Join(parts, " ")
}

// follows reports whether a and b are n3 and n4, or the like.
func follows(a, b string) bool {
	const digits = "0123456789"
	stem := strings.TrimRight(a, digits)
	if stem != strings.TrimRight(b, digits) {
		return false
	}
	m, err1 := strconv.Atoi(a[len(stem):])
	n, err2 := strconv.Atoi(b[len(stem):])
	return err1 == nil && err2 == nil && n == m+1
}
