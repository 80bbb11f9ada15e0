package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shard is one part of a plan: Index of Of, counting from 1.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// mostShards bounds how finely a plan can be cut.
const mostShards = 10_000

// ParseShard reads "2/5": the second of five shards.
func ParseShard(text string) (Shard, error) {
	wrong := fmt.Errorf("--shard is %q, want INDEX/COUNT counting from 1, such as 2/5", text)
	index, of, ok := strings.Cut(text, "/")
	if !ok {
		return Shard{}, wrong
	}
	i, err := strconv.Atoi(index)
	if err != nil {
		return Shard{}, wrong
	}
	n, err := strconv.Atoi(of)
	if err != nil || i < 1 || i > n || n > mostShards {
		return Shard{}, wrong
	}
	return Shard{i, n}, nil
}

// deal gives each item to the shard that has the least to do so far, the heaviest items
// first. The same items always go to the same shards. It returns the items of shard s, in
// their order.
func deal(items []item, s Shard) []item {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[b].weight, items[a].weight) })
	load := make([]int, s.Of)
	var mine []int
	for _, i := range order {
		least := 0
		for n := range load {
			if load[n] < load[least] {
				least = n
			}
		}
		load[least] += items[i].weight
		if least == s.Index-1 {
			mine = append(mine, i)
		}
	}
	slices.Sort(mine)
	some := make([]item, 0, len(mine))
	for _, i := range mine {
		some = append(some, items[i])
	}
	return some
}
