package external

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Servers are the user's servers: one for each master of the lock, and one for the
// register. The zero value has none.
type Servers struct {
	masters  []address
	register *address // nil: the first master
}

// address is where a server is and how to log in. It prints without user and password.
type address struct {
	host string // host:port
	tls  bool
	db   int
	// login is a function so that nothing that prints a struct prints a password.
	login func() (user, password string)
}

// Login is the user and the password of the servers whose address has none.
type Login struct{ User, Password string }

// String keeps the login out of whatever prints it.
func (Login) String() string { return "login" }

// GoString does so for %#v.
func (Login) GoString() string { return "login" }

// Parse reads a comma-separated list of masters, and the register's address if it is
// not empty. An address is host:port or redis://user:password@host:port/db, or rediss://
// for TLS. No error repeats an address that could not be read: it may hold a password.
func Parse(masters, register string, login Login) (Servers, error) {
	var s Servers
	if masters == "" {
		return s, errors.New("backend external needs --redis host:port[,host:port...], the servers that the lock is to be kept on")
	}
	for i, text := range strings.Split(masters, ",") {
		a, err := parse(text, login)
		if err != nil {
			return Servers{}, fmt.Errorf("address %d of --redis %w", i+1, err)
		}
		if slices.ContainsFunc(s.masters, func(o address) bool { return o.host == a.host && o.db == a.db }) {
			return Servers{}, fmt.Errorf("--redis names %s twice; the masters of a lock are independent servers", a)
		}
		s.masters = append(s.masters, a)
	}
	if register != "" {
		a, err := parse(register, login)
		if err != nil {
			return Servers{}, fmt.Errorf("the address of --register %w", err)
		}
		s.register = &a
	}
	return s, nil
}

func parse(text string, login Login) (address, error) {
	if !strings.Contains(text, "://") {
		text = "redis://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "redis" && u.Scheme != "rediss" || u.RawQuery != "" || u.Fragment != "" {
		return address{}, errors.New("is not one: want host:port or redis://user:password@host:port/db, or rediss:// for TLS, " +
			"with special characters of user and password as %XX")
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	a := address{host: net.JoinHostPort(u.Hostname(), port), tls: u.Scheme == "rediss"}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if a.db, err = strconv.Atoi(db); err != nil || a.db < 0 {
			return address{}, errors.New("has no number of a database after its last slash; want redis://host:port/0")
		}
	}
	if u.User != nil {
		password, given := u.User.Password()
		if given {
			login = Login{u.User.Username(), password}
		} else {
			login.User = u.User.Username()
		}
	}
	if login.User != "" && login.Password == "" {
		return address{}, errors.New("has a user and no password: want user:password@ or :password@, or the password in LOCKBENCH_REDIS_PASSWORD")
	}
	a.login = func() (string, string) { return login.User, login.Password }
	return a, nil
}

// String is the address as it may be shown to everybody.
func (a address) String() string {
	switch {
	case a.tls && a.db == 0:
		return "rediss://" + a.host
	case a.tls:
		return fmt.Sprintf("rediss://%s/%d", a.host, a.db)
	case a.db != 0:
		return fmt.Sprintf("redis://%s/%d", a.host, a.db)
	}
	return a.host
}

// Masters is the list that Parse read, without users and passwords.
func (s Servers) Masters() string {
	var all []string
	for _, a := range s.masters {
		all = append(all, a.String())
	}
	return strings.Join(all, ",")
}

// Register is the address that Parse read, without user and password; empty if none was
// given.
func (s Servers) Register() string {
	if s.register == nil {
		return ""
	}
	return s.register.String()
}

// Suit returns why topo cannot be had on these servers, or nil.
func (s Servers) Suit(topo cluster.Topology) error {
	switch {
	case topo.Replicas > 0:
		return errors.New("backend external has no replicas: it never fails over a deployment that is not its own")
	case topo.Masters != len(s.masters):
		return fmt.Errorf("the lock needs %s, so --redis wants as many addresses, found %d", topo, len(s.masters))
	}
	return nil
}

// locate is where each node of topo is.
func (s Servers) locate(topo cluster.Topology) map[string]address {
	at := map[string]address{}
	for _, n := range topo.Nodes() {
		switch {
		case n.Role == cluster.Master:
			at[n.Name] = s.masters[len(at)]
		case s.register != nil:
			at[n.Name] = *s.register
		default:
			at[n.Name] = s.masters[0]
		}
	}
	return at
}
