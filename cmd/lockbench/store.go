package main

import (
	"cmp"
	"errors"
	"path/filepath"
)

// storeVariable is the environment variable that names the directory of the store.
const storeVariable = "LOCKBENCH_STORE"

// usualStore is the directory of the store unless a flag names another: that of storeVariable, or store.
func usualStore(getenv func(string) string) string { return cmp.Or(getenv(storeVariable), "store") }

// errNoStore says what --out wants.
var errNoStore = errors.New("--out is empty, want a directory, or \"" + noStore + "\" to keep nothing")

// exploredIn is the directory of a store in which schedules are kept that were found, or noStore.
func exploredIn(store string) string {
	if store == noStore {
		return noStore
	}
	return filepath.Join(store, "explore")
}

// gatesIn is the directory of a store in which the results of gates are kept, for gate --failed.
func gatesIn(store string) string { return filepath.Join(store, "gate") }
