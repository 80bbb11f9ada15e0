package node

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Product returns the name and version of the server behind conn, such as "Valkey 8.1.1", as INFO tells them. It is empty if
// INFO tells no version.
func Product(ctx context.Context, conn *wire.Conn) (string, error) {
	info, err := Do(ctx, conn, "INFO", "server")
	if err != nil {
		return "", err
	}
	return product(info.Text()), nil
}

// product reads INFO's section of the server. Each of Redis' relatives has a redis_version too, which is that of the Redis it is
// compatible with, and names itself elsewhere.
func product(info string) string {
	fields := make(map[string]string)
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	for _, relative := range []struct{ name, version string }{
		{"Valkey", fields["valkey_version"]},
		{"Dragonfly", strings.TrimPrefix(fields["dragonfly_version"], "df-v")},
		{"Garnet", fields["garnet_version"]},
		{"Kvrocks", cmp.Or(fields["kvrocks_version"], fields["version"])},
	} {
		if relative.version != "" {
			return relative.name + " " + relative.version
		}
	}
	version := fields["redis_version"]
	switch {
	case version == "":
		return ""
	case strings.HasPrefix(path.Base(fields["executable"]), "keydb"): // it says so nowhere else
		return "KeyDB " + version
	}
	return "Redis " + version
}
