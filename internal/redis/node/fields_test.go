package node

import (
	"net"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

func TestLookAtFields(t *testing.T) {
	const owner, both = "*1\r\n$5\r\nowner\r\n", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"
	const refused, hash, list = "-ERR no\r\n", "+hash\r\n", "+list\r\n"
	for name, tt := range map[string]struct {
		replies []string // to HKEYS and HPTTL; after a refusal to TYPE and COMMAND INFO
		want    time.Duration
		gone    bool
	}{
		"one field":                   {[]string{owner, "*1\r\n:2500\r\n"}, 2500 * time.Millisecond, false},
		"the last of two":             {[]string{both, "*2\r\n:2500\r\n:3000\r\n"}, 3 * time.Second, false},
		"one has ended":               {[]string{both, "*2\r\n:2500\r\n:-2\r\n"}, 2500 * time.Millisecond, false},
		"one does not end":            {[]string{both, "*2\r\n:2500\r\n:-1\r\n"}, histories.NoTTL, false},
		"all have ended":              {[]string{both, "*2\r\n:-2\r\n:-2\r\n"}, 0, true},
		"nothing is left":             {[]string{"*0\r\n"}, 0, true},
		"somebody has replaced it":    {[]string{refused, list}, 0, true},
		"... between the two":         {[]string{owner, refused, list}, 0, true},
		"a server without such ends":  {[]string{owner, refused, hash, "*1\r\n*-1\r\n"}, histories.NoTTL, false},
		"a user who may not ask":      {[]string{owner, refused, hash, "*1\r\n*1\r\n$5\r\nhpttl\r\n"}, -2, false},
		"a user who may ask for none": {[]string{refused, hash, refused}, -2, false},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			go func() {
				defer far.Close()
				for _, reply := range tt.replies {
					if _, err := far.Read(make([]byte, 1024)); err != nil {
						return
					}
					_, _ = far.Write([]byte(reply))
				}
			}()
			states := []cluster.KeyState{
				{Key: "s", Exists: true, Type: "string", TTL: histories.NoTTL}, {Key: "h", Exists: true, Type: "hash", TTL: time.Second},
				{Key: "k", Database: 3, Exists: true, Type: "hash", TTL: histories.NoTTL},
			}
			err := lookAtFields(t.Context(), wire.NewConn(near), states)
			got := states[2]
			switch {
			case (err != nil) != (tt.want == -2):
				t.Fatalf("got the error %v", err)
			case err != nil:
			case got.Exists == tt.gone, !tt.gone && got.TTL != tt.want, got.Key != "k", got.Database != 3:
				t.Errorf("got %+v, want %v; gone: %v", got, tt.want, tt.gone)
			}
		})
	}
}
