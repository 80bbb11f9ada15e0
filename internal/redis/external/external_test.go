package external_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/external"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

const (
	user     = "bench"
	password = "s3cret,@:/ä"
	inURL    = "s3cret%2C%40%3A%2F%C3%A4"
)

func one() cluster.Topology { return cluster.Topology{Masters: 1} }

// TestSilentServer: one that takes connections and never answers is given up.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, login := range map[string]external.Login{"without a login": {}, "with one": {User: user, Password: password}} {
		servers := parse(t, l.Addr().String(), "", login)
		_, err = external.New(t.Context(), one(), servers, external.Options{Patience: 50 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), l.Addr().String()) || !strings.Contains(err.Error(), "no answer within 50ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func parse(t *testing.T, masters, register string, login external.Login) external.Servers {
	t.Helper()
	s, err := external.Parse(masters, register, login)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// own is the user's own look at the server.
func own(t *testing.T, opt *redis.Options) *redis.Client {
	t.Helper()
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRun uses servers as a run does, logs in every way there is, and checks that nothing
// is left, that nothing of others is touched and that no link has seen a password.
func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		server  []string
		address string // HOST: host:port
		login   external.Login
		admin   redis.Options
	}{
		"plain":                   {address: "HOST"},
		"database":                {address: "redis://HOST/3", admin: redis.Options{DB: 3}},
		"password in the address": {server: []string{"--requirepass", password}, address: "redis://:" + inURL + "@HOST", admin: redis.Options{Password: password}},
		"password beside it":      {server: []string{"--requirepass", password}, address: "HOST", login: external.Login{Password: password}, admin: redis.Options{Password: password}},
		"user in the address":     {server: acl("~*lockbench:* &* +@all"), address: "redis://" + user + ":" + inURL + "@HOST/2", admin: redis.Options{DB: 2}},
		"user with little power": {server: acl("~*lockbench:* -@all +role +info +scan +del +hello +select +auth +set +@transaction +type +pttl +get"), address: "HOST",
			login: external.Login{User: user, Password: password}},
	} {
		t.Run(name, func(t *testing.T) {
			addr := locktest.StartRedis(t, tc.server...)
			tc.admin.Addr = addr
			use(t, parse(t, strings.Replace(tc.address, "HOST", addr, 1), "", tc.login), external.Options{}, own(t, &tc.admin))
		})
	}
}

func acl(rules string) []string {
	return append([]string{"--user", user, "on", ">" + password}, strings.Fields(rules)...)
}

func use(t *testing.T, servers external.Servers, opt external.Options, admin *redis.Client) {
	t.Helper()
	ctx := t.Context()
	for _, key := range []string{"orders/42", "lockbench:orders/42", "lockbench:0123456789abcdef:orders/42"} {
		if err := admin.Set(ctx, key, "theirs", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := external.New(ctx, one(), servers, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // checked below
	var mu sync.Mutex
	var seen []string
	for _, n := range c.Nodes() {
		c.Link("A", n.Name).Observe(func(e wire.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, e.Command.Name)
		})
	}
	key := c.KeyPrefix() + "orders/42"
	readers, err := locks.All().Find("rw-two-key")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{
		"master":   append(readers.Keys(key), locks.FenceKey(key), libraries.RueidislockKey(key)),
		"register": {key + ":register"},
	}
	for node, keys := range keys {
		client := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return c.Dial(ctx, "A", node) })
		for _, key := range keys {
			if err := client.Set(ctx, key, "ours", 0).Err(); err != nil {
				t.Errorf("SET %s: %v", key, err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	states, err := c.Inspect(ctx, c.Primary(0), 0, key)
	if err != nil || len(states) != 1 || states[0].Value != "ours" {
		t.Errorf("inspect: %v, %v", states, err)
	}
	if n := admin.DBSize(ctx).Val(); n != 3+5 {
		t.Errorf("%d keys during the run, want 8", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := admin.DBSize(ctx).Val(); n != 3 {
		t.Errorf("%d keys after the run, want 3: %v", n, admin.Keys(ctx, "*").Val())
	}
	for _, command := range seen {
		if command == "AUTH" || command == "SELECT" {
			t.Errorf("a link has seen %s", command)
		}
	}
	if len(seen) == 0 {
		t.Error("no link has seen anything")
	}
}

// TestTLS makes a certificate that only its own pool trusts.
func TestTLS(t *testing.T) {
	path := locktest.NeedRedis(t)
	// It ends at once either way: there is no port to listen on.
	if said, _ := exec.Command(path, "--port", "0", "--tls-port", "0").CombinedOutput(); strings.Contains(string(said), "'tls-port") {
		t.Skip("redis-server was built without TLS")
	}
	dir := t.TempDir()
	roots := certificate(t, dir)
	addr := locktest.StartRedis(t, "--port", "0", "--tls-port", "{port}", "--tls-auth-clients", "no", "--requirepass", password,
		"--tls-cert-file", filepath.Join(dir, "cert.pem"), "--tls-key-file", filepath.Join(dir, "key.pem"), "--tls-ca-cert-file", filepath.Join(dir, "cert.pem"))
	servers := parse(t, "rediss://:"+inURL+"@"+addr, "", external.Login{})
	trusted := external.Options{Roots: roots}

	c, err := external.New(t.Context(), one(), servers, external.Options{})
	if err == nil {
		_ = c.Close()
		t.Fatal("a certificate that nobody vouches for was accepted")
	}
	if !strings.Contains(err.Error(), "no TLS") || strings.Contains(err.Error(), password) {
		t.Errorf("got %v", err)
	}

	// The user's own look goes through a deployment of its own.
	look, err := external.New(t.Context(), one(), servers, trusted)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = look.Close() }()
	admin := locks.NewClient(func(ctx context.Context) (net.Conn, error) { return look.Dial(ctx, "user", "master") })
	defer admin.Close()
	use(t, servers, trusted, admin)
}

func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockbench test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, data := range map[string][]byte{
		"cert.pem": cert,
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// TestNothingLandsAfterClose closes while clients write as fast as they can.
func TestNothingLandsAfterClose(t *testing.T) {
	addr := locktest.StartRedis(t)
	admin := own(t, &redis.Options{Addr: addr})
	for range 10 {
		c, err := external.New(t.Context(), one(), parse(t, addr, "", external.Login{}), external.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			conn, err := c.Dial(t.Context(), fmt.Sprint(i), "master")
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				defer conn.Close()
				for j := 0; ; j++ { // until Close ends the connection
					if _, err := conn.Write(wire.AppendCommand(nil, "SET", fmt.Sprint(c.KeyPrefix(), i, ":", j), "x")); err != nil {
						return
					}
				}
			})
			wg.Go(func() {
				buf := make([]byte, 4096)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
				}
			})
		}
		for admin.DBSize(t.Context()).Val() == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if n := admin.DBSize(t.Context()).Val(); n != 0 {
			t.Fatalf("%d keys landed after they were removed", n)
		}
	}
}

// nobodyAt is an address where nobody listens, nor can until the test ends: it is our end
// of a connection.
func nobodyAt(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}

func TestRefusals(t *testing.T) {
	plain := locktest.StartRedis(t)
	closed := locktest.StartRedis(t, "--requirepass", password)
	weak := locktest.StartRedis(t, acl("~* +@read +@write")...)
	_, port, err := net.SplitHostPort(plain)
	if err != nil {
		t.Fatal(err)
	}
	nobody := nobodyAt(t)
	for name, tc := range map[string]struct {
		masters string
		topo    cluster.Topology
		want    string
	}{
		"nobody there":   {nobody, one(), nobody + " cannot be reached: "},
		"replica":        {locktest.StartRedis(t, "--replicaof", "127.0.0.1", port), one(), "is a replica: name its master"},
		"cluster":        {locktest.StartRedis(t, "--cluster-enabled", "yes"), one(), "is a node of a Redis Cluster"},
		"no password":    {closed, one(), "wants a password"},
		"wrong password": {"redis://:" + inURL + "x@" + closed, one(), "refuses AUTH (WRONGPASS)"},
		"no such user":   {"redis://nobody:" + inURL + "@" + plain, one(), "refuses AUTH (WRONGPASS)"},
		"no database":    {"redis://" + plain + "/9999", one(), "refuses SELECT (ERR)"},
		"weak user":      {"redis://" + user + ":" + inURL + "@" + weak, one(), "does not let its user"},
		"too few":        {plain, cluster.Topology{Masters: 5}, "5 independent masters, so --redis wants as many addresses, found 1"},
		"replicas":       {plain, cluster.Topology{Masters: 1, Replicas: 1}, "has no replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := external.New(t.Context(), tc.topo, parse(t, tc.masters, "", external.Login{}), external.Options{})
			if err == nil {
				_ = c.Close()
				t.Fatalf("accepted, want %q", tc.want)
			}
			text := err.Error()
			if !strings.Contains(text, tc.want) || strings.Contains(text, "\n") || strings.Contains(text, "s3cret") {
				t.Errorf("got %q, want one line with %q and no password", text, tc.want)
			}
		})
	}
}

// TestChatterbox checks that a server that repeats what it was sent does not get a
// password told.
func TestChatterbox(t *testing.T) {
	addr := locktest.StartRedis(t, "--rename-command", "AUTH", "")
	_, err := external.New(t.Context(), one(), parse(t, addr, "", external.Login{User: user, Password: password}), external.Options{})
	if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), user) {
		t.Errorf("got %v", err)
	}
}

func TestParse(t *testing.T) {
	login := external.Login{User: "u", Password: password}
	for _, tt := range []struct{ text, want string }{
		{"localhost:7000", "localhost:7000"},
		{"localhost", "localhost:6379"},
		{"redis://localhost:7000/", "localhost:7000"},
		{"redis://me:" + inURL + "@localhost:7000/2", "redis://localhost:7000/2"},
		{"rediss://:" + inURL + "@[::1]:7000", "rediss://[::1]:7000"},
		{"rediss://me@example.org/1", "rediss://example.org:6379/1"},
		{"a:1,b:2", "a:1,b:2"},
		{"a:1,a:1/1", "a:1,redis://a:1/1"},
	} {
		s := parse(t, tt.text, tt.text[:strings.IndexByte(tt.text+",", ',')], login)
		if s.Masters() != tt.want || s.Register() != strings.Split(tt.want, ",")[0] {
			t.Errorf("%s: %s and %s, want %s", tt.text, s.Masters(), s.Register(), tt.want)
		}
		if all := fmt.Sprintf("%v %+v %#v %v %#v", s, s, s, login, login); strings.Contains(all, "s3cret") {
			t.Errorf("a password is printed: %s", all)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"", "needs --redis"},
		{"a:1,a:1", "names a:1 twice"},
		{"a:1,", "address 2 of --redis is not one"},
		{"http://s3cret@a:1", "address 1 of --redis is not one"},
		{"redis://me:s3cret%@a:1", "is not one"},
		{"redis://me:s3/cret@a:1", "is not one"},
		{"redis://s3cret@a:1", "has a user and no password"},
		{"redis://:s3cret@a:1/x", "has no number of a database"},
		{"redis://:s3cret@a:1?db=1", "is not one"},
	} {
		_, err := external.Parse(tt.text, "", external.Login{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, want %q and no password", tt.text, err, tt.want)
		}
	}
}

// TestDoesNothingToServers checks that no fault can be had of the type.
func TestDoesNothingToServers(t *testing.T) {
	var c cluster.Cluster = (*external.Cluster)(nil)
	for name, can := range map[string]bool{
		"kill": is[cluster.Killer](c), "restart": is[cluster.Restarter](c), "pause": is[cluster.Pauser](c),
		"set clocks": is[cluster.ClockSetter](c), "replicate": is[cluster.Replicator](c),
	} {
		if can {
			t.Errorf("it can %s", name)
		}
	}
}

func is[T any](c cluster.Cluster) bool {
	_, ok := c.(T)
	return ok
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
