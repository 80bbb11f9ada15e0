# Reads the output of go test -v: prints one line per package, failures in full,
# and at the end each skipped test with its reason. Exits as go test did.
#
# Where fail_on_skip is set it exits with 1 also if a test was skipped whose reason begins neither
# with "optional: " nor with the words of allow_skip and a colon.

function flush_test(name) { printf "%s", out[name]; delete out[name] }
function keep(line) { if (!(current in out)) order[++kept] = current; out[current] = out[current] line "\n" }

# The last log line of a skipped test is its reason; a long one goes on below it.
function reason(text,    lines, n, i, r) {
	n = split(text, lines, "\n")
	for (i = 1; i <= n; i++) {
		sub(/^[ \t]+/, "", lines[i])
		if (lines[i] ~ /^[^ ]+\.go:[0-9]+: /) r = lines[i]
		else if (lines[i] != "") r = r " " lines[i]
	}
	return r == "" ? "no reason given" : r
}

# A reason comes behind the place in the source where it was given.
function begins(line, words) { return match(line, /\.go:[0-9]+: /) && index(substr(line, RSTART + RLENGTH), words ": ") == 1 }
function may_skip(line) { return begins(line, "optional") || allow_skip != "" && begins(line, allow_skip) }

/^go test exited [0-9]+$/ { status = $4; exited = 1; next }
/^=== (RUN|CONT|NAME) / { current = $3; next }
/^=== PAUSE / || /^(PASS|FAIL)$/ { next }

/--- (PASS|FAIL|SKIP): [^ ]+ \([0-9.]+s\)$/ {
	name = $(NF - 1)
	if (/--- FAIL: /) { print; flush_test(name) }
	if (/--- SKIP: /) { pending[++waiting] = name ": " reason(out[name]) }
	delete out[name]
	current = ""
	next
}

/^(ok  |FAIL|\?   )\t/ {
	if (/^FAIL/) { failed++; for (i = 1; i <= kept; i++) if (order[i] in out) flush_test(order[i]) }
	print; fflush()
	split($0, field, "\t")
	for (i = 1; i <= waiting; i++) skipped[++total] = field[2] " " pending[i]
	split("", out); split("", order); kept = waiting = 0; current = ""
	next
}

{ keep($0) }

END {
	if (!exited) status = 1
	printf "%s", out[""]
	if (race == "") skipped[++total] = "race detector: off, it needs cgo and a C compiler (Debian: apt-get install gcc)"
	if (total == 0) print "skipped: nothing"
	else print "skipped: " total
	for (i = 1; i <= total; i++) print "  " skipped[i]
	if (failed) print "FAILED packages: " failed
	if (fail_on_skip != "") for (i = 1; i <= total; i++) if (!may_skip(skipped[i])) wanted[++n] = skipped[i]
	if (n) {
		print "FAILED: FAIL_ON_SKIP is set, and these should not have been skipped:"
		for (i = 1; i <= n; i++) print "  " wanted[i]
	}
	exit (status ? status : n > 0)
}
