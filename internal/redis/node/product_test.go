package node

import "testing"

func TestProduct(t *testing.T) {
	for info, want := range map[string]string{
		"# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nexecutable:/usr/bin/redis-server\r\n": "Redis 7.0.15",
		"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n":                 "Valkey 8.1.1",
		"# Server\r\nredis_version:6.3.4\r\nexecutable:/usr/local/bin/keydb-server\r\n":                     "KeyDB 6.3.4",
		"# Server\r\nredis_version:7.4.0\r\ndragonfly_version:df-v1.27.1\r\n":                               "Dragonfly 1.27.1",
		"# Server\r\nversion:2.11.0\r\nkvrocks_version:2.11.0\r\nredis_version:4.0.0\r\n":                   "Kvrocks 2.11.0",
		"# Server\r\ngarnet_version:1.0.50\r\nredis_version:7.2.5\r\n":                                      "Garnet 1.0.50",
		"# Server\r\n": "",
		"":             "",
	} {
		if got := product(info); got != want {
			t.Errorf("of %q: got %q, want %q", info, got, want)
		}
	}
}
