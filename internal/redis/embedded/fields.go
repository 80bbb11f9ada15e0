package embedded

import (
	"time"

	"github.com/alicebob/miniredis/v2"
)

// fieldTTLs are what is left to those fields of a hash that end, and whether it has fields and they all
// do. A key of another type has none.
func fieldTTLs(m *miniredis.Miniredis, key string) (left map[string]time.Duration, all bool) {
	names, _ := m.HKeys(key) // an error says that it is no hash
	left = map[string]time.Duration{}
	for _, name := range names {
		if ttl := m.HTTL(key, name); ttl > 0 {
			left[name] = ttl
		}
	}
	return left, len(names) > 0 && len(left) == len(names)
}

// timeToLive is what is left to a key: 0 if it does not end. A hash is gone at the latest with the last
// of its fields.
func timeToLive(m *miniredis.Miniredis, key string) time.Duration {
	ttl := m.TTL(key)
	fields, all := fieldTTLs(m, key)
	if !all {
		return ttl
	}
	longest := time.Duration(0)
	for _, left := range fields {
		longest = max(longest, left)
	}
	if ttl == 0 {
		return longest
	}
	return min(ttl, longest)
}
