package locks

func rwHashClientIDSpec() Spec {
	return Spec{
		Name:      "rw-hash-client-id",
		Title:     "rw-hash whose entries are clients, which may come in again and are not counted",
		Source:    "mutant of rw-hash, E",
		Masters:   1,
		Variant:   "rw-hash",
		Extends:   true,
		ReadWrite: true,
		Breaks: map[string]string{
			"no re-entry": "P46: a writer that is inside gets in again, and nobody counts",
		},
		New: newRWHashClientID,
	}
}

// newRWHashClientID returns the lock rw-hash-client-id: rw-hash whose entries are named by the
// client, read:client or write:client, and which lets a client that is inside in again.
//
//	acquire write  as that of rw-hash; a writer that is inside already has its score set
//
// A mutant of rw-hash.
//
// Broken: it re-enters and does not count. All leases of a client are one entry, so that the
// first release ends them all, and others come in while the client is still inside (P46).
func newRWHashClientID(env Env) Locker {
	return &rwHash{env: env, write: rwHashClientIDWriteScript, name: func() (string, error) { return env.Client, nil }}
}

// rwHashClientIDWriteScript answers 1, or 0 if anybody else holds the lock. Keys and
// arguments are those of rwHashWriteScript.
var rwHashClientIDWriteScript = newScript("rw-hash-client-id-write", rwHashLua+`if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  set(ARGV[1], ARGV[2])
  expire_with_the_last()
  return 1
end
`+rwHashWriteLua)
