package embedded

import (
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// hashSlots is how many there are in a Redis Cluster.
const hashSlots = 16384

// crossSlot is what Redis answers in cluster mode to a command on keys of different slots.
const crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"

// refusesSlots reports whether it has refused a command as a node of a Redis Cluster that serves
// all slots does: miniredis knows no cluster mode. It is part of the node's hook. What a
// script does with keys that it did not declare is let through, unlike on a real server, and
// so is a transaction whose commands are each on one slot and together on several.
func refusesSlots(srv *server.Server, p *server.Peer, cmd string, args []string) bool {
	conn := stateOf(p)
	if conn.nested {
		return false
	}
	keys := keysOf(cmd, args)
	for _, key := range keys {
		if slotOf(key) == slotOf(keys[0]) {
			continue
		}
		if conn.multi {
			spoil(srv, p)
		}
		p.WriteError(crossSlot)
		return true
	}
	return false
}

// keysOf are the keys of those commands that may have several. Of a command that is not
// well formed there are none: miniredis words the error.
func keysOf(cmd string, args []string) []string {
	switch cmd {
	case "DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "WATCH":
		return args
	case "MSET", "MSETNX":
		var keys []string
		for i := 0; i < len(args); i += 2 {
			keys = append(keys, args[i])
		}
		return keys
	case "EVAL", "EVALSHA", "FCALL", "FCALL_RO":
		if len(args) < 2 {
			return nil
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 0 || n > len(args)-2 {
			return nil
		}
		return args[2 : 2+n]
	}
	return nil
}

// slotOf is the hash slot of a key: that of its hash tag, if it has one, the first stretch in
// braces that is not empty. Source: the Redis Cluster specification.
func slotOf(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	crc := uint16(0) // CRC-16/XMODEM
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % hashSlots
}
