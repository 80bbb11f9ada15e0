package schedule

import (
	"fmt"
	"strconv"
	"time"
)

// field is a line of the head: its word, and how its value is written and read. A flag has no value.
type field struct {
	name  string
	write func(*Schedule) string // empty: the line is left out
	read  func(*Schedule, string) error
	flag  func(*Schedule) *bool
}

// fields are the lines of the head, in the order in which they are written.
func fields() []field {
	return []field{
		text("id", func(s *Schedule) *string { return &s.ID }),
		text("name", func(s *Schedule) *string { return &s.Name }),
		text("title", func(s *Schedule) *string { return &s.Title }),
		text("source", func(s *Schedule) *string { return &s.Source }),
		text("why", func(s *Schedule) *string { return &s.Why }),
		text("lock", func(s *Schedule) *string { return &s.Lock }),
		text("guard", func(s *Schedule) *string { return &s.Guard }),
		count("clients", maxClients, func(s *Schedule) *int { return &s.Clients }),
		count("threads", maxClients, func(s *Schedule) *int { return &s.Threads }),
		count("keys", maxKeys, func(s *Schedule) *int { return &s.Keys }),
		count("replicas", maxReplicas, func(s *Schedule) *int { return &s.Replicas }),
		{name: "cluster-mode", flag: func(s *Schedule) *bool { return &s.ClusterMode }},
		{name: "clocks", flag: func(s *Schedule) *bool { return &s.Clocks }},
		length("ttl", func(s *Schedule) *time.Duration { return &s.TTL }),
		length("real-ttl", func(s *Schedule) *time.Duration { return &s.RealTTL }),
		seed(),
		{name: "waits", flag: func(s *Schedule) *bool { return &s.Waits }},
		{name: "queues", flag: func(s *Schedule) *bool { return &s.Queues }},
		count("overtaken", maxKeys, func(s *Schedule) *int { return &s.Overtaken }),
		text("needs", func(s *Schedule) *string { return &s.Needs }),
		text("asks", func(s *Schedule) *string { return &s.Asks }),
		{name: "faultless", flag: func(s *Schedule) *bool { return &s.Faultless }},
		{name: "holds", flag: func(s *Schedule) *bool { return &s.Holds }},
		text("in-process", func(s *Schedule) *string { return &s.InProcess }),
	}
}

// Bounds of what a schedule may ask for.
const (
	maxClients  = 26
	maxKeys     = 100_000
	maxReplicas = 9
	maxTTL      = time.Hour
)

func text(name string, at func(*Schedule) *string) field {
	return field{
		name:  name,
		write: func(s *Schedule) string { return *at(s) },
		read: func(s *Schedule, value string) error {
			*at(s) = value
			return nil
		},
	}
}

func count(name string, most int, at func(*Schedule) *int) field {
	return field{
		name: name,
		write: func(s *Schedule) string {
			if *at(s) == 0 {
				return ""
			}
			return strconv.Itoa(*at(s))
		},
		read: func(s *Schedule, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > most {
				return fmt.Errorf("want a number from 1 to %d, found %q", most, value)
			}
			*at(s) = n
			return nil
		},
	}
}

func length(name string, at func(*Schedule) *time.Duration) field {
	return field{
		name: name,
		write: func(s *Schedule) string {
			if *at(s) == 0 {
				return ""
			}
			return at(s).String()
		},
		read: func(s *Schedule, value string) error {
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond || d > maxTTL {
				return fmt.Errorf("want a time from 1ms to 1h, such as 3s, found %q", value)
			}
			*at(s) = d
			return nil
		},
	}
}

func seed() field {
	return field{
		name: "seed",
		write: func(s *Schedule) string {
			if s.Seed == 0 {
				return ""
			}
			return strconv.FormatUint(s.Seed, 10)
		},
		read: func(s *Schedule, value string) error {
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil || n == 0 {
				return fmt.Errorf("want a number from 1 on, found %q", value)
			}
			s.Seed = n
			return nil
		},
	}
}
