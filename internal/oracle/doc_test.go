// Package oracle holds the checker against package orders, an independent judge of small histories:
// every order of the calls and every instant at which they can have taken effect is tried on a lock
// server of a few lines. Of mutual exclusion and lease exclusion it rules itself, see excludes.
package oracle
