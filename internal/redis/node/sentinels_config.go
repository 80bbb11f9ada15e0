package node

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Announce is what a node of the first shard must be started with, so that the Sentinels
// learn the address of its door. Nil for any other node.
func (s *Sentinels) Announce(node string) []string {
	addr, ok := s.at[node]
	if !ok {
		return nil
	}
	host, port, _ := net.SplitHostPort(addr) // as we joined it
	return []string{"--replica-announce-ip", host, "--replica-announce-port", port}
}

// Config is the configuration file of a Sentinel, in which it finds the others and the
// replicas: to discover them takes seconds.
func (s *Sentinels) Config(name string) string {
	var b strings.Builder
	line := func(args ...string) { fmt.Fprintln(&b, strings.Join(args, " ")) }
	addr := func(node string) string { return strings.ReplaceAll(s.at[node], ":", " ") }
	host, port, _ := net.SplitHostPort(s.at[name]) // as we joined it
	master := cluster.SentinelMaster
	line("protected-mode no")
	line("sentinel announce-ip", host)
	line("sentinel announce-port", port)
	line("sentinel myid", s.id(name))
	line("sentinel monitor", master, addr(s.repl.Primary(0)), strconv.Itoa(quorum))
	line("sentinel down-after-milliseconds", master, strconv.FormatInt(downAfter.Milliseconds(), 10))
	line("sentinel failover-timeout", master, strconv.FormatInt(failoverTimeout.Milliseconds(), 10))
	for _, node := range s.shard {
		if node != s.repl.Primary(0) {
			line("sentinel known-replica", master, addr(node))
		}
	}
	for _, other := range s.names {
		if other != name {
			line("sentinel known-sentinel", master, addr(other), s.id(other))
		}
	}
	return b.String()
}

// id is the identity of a Sentinel. It must differ from that of every Sentinel that the
// same servers have ever heard of, and these servers hear of no others.
func (s *Sentinels) id(name string) string {
	sum := sha1.Sum([]byte(s.at[name]))
	return hex.EncodeToString(sum[:])
}
