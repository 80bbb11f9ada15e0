package demo

// english are the texts in English. Why a lock breaks, and what the steps are, other rooms
// say in English themselves.
func english() map[string]string {
	return map[string]string{
		"demo.setnx-expire.title": "SETNX, then EXPIRE: a lock that stays shut for ever",
		"demo.setnx-expire.intro": "A lock needs a time to live (TTL), or a client that dies would keep it for ever. This one takes the key with " +
			"SETNX and then gives it its TTL with EXPIRE. Each command is right. But they are two, and a client can die between them.",
		"demo.setnx-expire.question": "A is dead. B now asks for the lock, again and again, for longer than the {ttl} s that A wanted it for. What " +
			"will B get?",
		"demo.setnx-expire.fix": "SET key token NX PX milliseconds takes the key and gives it its TTL in one command. Redis executes a command " +
			"whole or not at all: there is no moment at which the key is there without a TTL.",

		"demo.delete-without-check.title": "A bare DEL: a client deletes a lock that is not its own",
		"demo.delete-without-check.intro": "This lock is taken in one command, with a TTL. It is given back with DEL, which deletes the key, whoever " +
			"put it there. As long as everybody is done before their lease ends, nobody notices. Here A is not: it stands still for longer " +
			"than its lease.",
		"demo.delete-without-check.question": "A is back from its pause and has called release. B is in the middle of its work. C now asks for the " +
			"lock. What will C get?",
		"demo.delete-without-check.fix": "The key holds a random token that only its holder knows, and release is a script: if the key holds my token, " +
			"delete it. Redis executes a script with nothing in between. A release that comes too late finds another's token, and deletes nothing.",

		"demo.get-del.title": "GET, compare, DEL: right when it looked, wrong when it deleted",
		"demo.get-del.intro": "This lock has learnt from the one before: it deletes the key only if the key holds its own token. But the look (GET) " +
			"and the deletion (DEL) are two commands, and time can pass between them. Here A's DEL is held up on the network for just as long as " +
			"A's lease lasts.",
		"demo.get-del.question": "A's DEL has reached Redis at last. B has not given the lock back. C now asks for it. What will C get?",
		"demo.get-del.fix": "The same look and the same deletion, but in one script, which Redis executes with nothing in between. However late it " +
			"arrives: it looks at the moment at which it deletes.",

		"demo.gc-pause.title": "A pause longer than the lease: a holder that does not know it is too late",
		"demo.gc-pause.intro": "When a lease ends, Redis gives the lock to the next one who asks, whether or not its holder is done. Here A stands " +
			"still (a garbage collection, a swapped-out page, a suspended machine) between reading the data and writing them. The lock is the " +
			"sound one of the lessons before.",
		"demo.gc-pause.question": "A was about to write when it was stopped, and goes on now. B has read and written meanwhile. What will become of " +
			"B's update?",
		"demo.gc-pause.fix": "No lock can keep a client that stands still from believing what it believes. So the data have to defend " +
			"themselves: with the lock comes a fencing token, a number that only goes up, and every access carries it. The register remembers " +
			"the highest number that it has seen and refuses lower ones.",

		"demo.failover.title": "Failover: the new master has never heard of the lock",
		"demo.failover.intro": "For availability the master has a replica that takes over when it dies. But replication is asynchronous: the " +
			"master answers OK first and tells its replica afterwards. Here it dies in between.",
		"demo.failover.question": "The replica is the master now. A holds the lock, and its lease has hardly begun. B asks the new master. What " +
			"will B get?",
		"demo.failover.fix": "Redlock asks five masters that know nothing of each other, and has the lock if a majority of them granted it in time. " +
			"When one of them dies, enough of the others still know of A.",

		"demo.redlock-clock-jump.title": "Redlock and a clock that jumps: one server's time runs ahead",
		"demo.redlock-clock-jump.intro": "Redlock relies on majorities: three of five servers are enough, and any two majorities have a server in " +
			"common, which would refuse the second. But each server decides by its own clock when a key has expired. Here A holds the lock on n1, " +
			"n2 and n3, and then the clock of n3 jumps ahead.",
		"demo.redlock-clock-jump.question": "A holds the lock, and its lease has hardly begun. B now asks all five. What will B get?",
		"demo.redlock-clock-jump.fix": "A lock that relies on its servers' clocks cannot defend itself against a wrong one. The data can: whoever " +
			"begins a section gets a number from the register itself (the epoch), which only goes up, and every access carries it. Lower ones are " +
			"refused. Two still hold the lock, but they do no harm.",

		"demo.redlock-restart.title": "Redlock and a restart: one server forgets what it granted",
		"demo.redlock-restart.intro": "As before, A holds the lock on n1, n2 and n3 of five servers. This time no clock is wrong, but n3 dies and " +
			"comes back at once. It keeps nothing on its disk, so it comes back empty.",
		"demo.redlock-restart.question": "A holds the lock, and its lease has hardly begun. B now asks all five. What will B get?",
		"demo.redlock-restart.fix": "A server must not forget what it granted. Here n3 keeps an append-only file with appendfsync always: it answers " +
			"only once a write is on the disk, so it comes back with A's key. The other way is to let a server that died stay away until all that it " +
			"may have granted is over (lockbench run --scenario redlock-restart --lock redlock --remedy restart-delayed).",

		"demo.rw-timestamp.title": "Readers and writers by timestamp: the second reader takes the first one's place",
		"demo.rw-timestamp.intro": "This lock is a hash with two fields, read and write, which hold a client's time in milliseconds. Readers may " +
			"share the lock, but they also share the one field. A release deletes the field if it still holds the caller's own time. No fault is needed " +
			"here: two readers and a writer are enough.",
		"demo.rw-timestamp.question": "A is still reading. B has read and released. C now asks for the lock in order to write. What will C get?",
		"demo.rw-timestamp.fix": "Every holder gets an entry of its own: a sorted set, whose members are the holders' tokens and whose scores say when " +
			"each one's lease ends, by the server's clock. A holder removes its own entry only, and a writer gets in when there is no other.",

		"list.head": "Demos, in the order in which they teach:",
		"list.how": "lockbench demo NAME tells one: a broken lock step by step, what it breaks and why, and its fix under the same steps. " +
			"--pause waits for a key between steps, --lang zh tells it in Chinese.",

		"head.about":       "lockbench demo {demo} · pitfall {id}, {scenario} · {backend} · seed {seed}",
		"backend.embedded": "in-process servers in virtual time",
		"backend.process":  "real redis-server processes",
		"backend.docker":   "real redis-server in containers",
		"head.how": "How to read a step: first the commands that a client sent, with their replies; then what Redis holds under the lock's key, " +
			"{key}; then what each client believes. All this was recorded while the real lock ran. Times are seconds since the start, and a lease " +
			"lasts {ttl} s. The register stands for the data that the lock protects: a holder reads it, adds one and writes it back.",

		"head.embedded": "The servers run inside this process and in virtual time; replication, clocks and pauses are simulated. --backend process " +
			"plays the same steps on real redis-server.",

		"part.broken":      "The broken lock: {lock}",
		"part.fixed":       "The fix, under the same steps: {lock}",
		"part.guarded":     "{lock}, guard {guard}",
		"part.remedied":    "{lock}, servers with {remedy}",
		"part.by":          "Acquire: {acquire}. Release: {release}.",
		"part.commands":    "{commands}.",
		"guard.fence":      "Every read and write of the register carries the lock's token.",
		"guard.epoch":      "Every read and write of the register carries a token that the register itself gave out when the section began.",
		"simulated":        " (simulated)",
		"step.idle":        "{client} does not hold the lock, so it skips this.",
		"comma":            ", ",
		"row.redis":        "Redis holds",
		"row.register":     "register",
		"row.believes":     "{client} believes",
		"sent.went-on":     "{command}  (held up until now)  => {reply}",
		"sent.held":        "{command}  … is held up on its way to Redis",
		"sent.reply-held":  "{command}  … is executed, and the reply is held up",
		"sent.reply-lost":  "{command}  … the reply never arrives",
		"sent.waiting":     "{command}  … no reply yet",
		"sent.times":       "  ({times} times, each with a new token, until {until})",
		"sent.noscript":    "this server does not have the script yet, so the client sends it in full",
		"question":         "Your guess: {question}",
		"register.changed": "{client} reads {value} (version {version}), although it had read version {seen}: the data changed while it held the lock",
		"register.read":    "{client} reads {value} (version {version})",
		"register.write":   "{client} writes {value} over version {version}, which it had read",
		"register.overwrite": "{client} writes {value} over version {version}, although it had read version {seen}: what was written in between is " +
			"lost",
		"register.refused": "{client} is refused: {why}",
		"register.stale":   "{client} is refused: its token is lower than one that the register has seen",

		"holds.nothing":  "nothing",
		"holds.dead":     "dead",
		"holds.silent":   "no answer",
		"holds.promoted": "{node} (now the master)",
		"holds.whose":    "{value} ({client}'s)",
		"holds.ttl":      ", ends in {ttl} s",
		"holds.forever":  ", without TTL: it stays for ever",

		"believes.asks":                          "nothing: it has asked for the lock and has no answer yet",
		"believes.holds":                         "it holds the lock until {until}",
		"believes.holds-reading":                 "it holds the lock for reading until {until}",
		"believes.holds-open":                    "it holds the lock",
		"believes.holds-open-reading":            "it holds the lock for reading",
		"believes.overdue":                       "it holds the lock, though its lease ended at {until}",
		"believes.overdue-reading":               "it holds the lock for reading, though its lease ended at {until}",
		"believes.refused":                       "somebody else has the lock: it was refused",
		"believes.unsure":                        "nothing: it will never know whether it got the lock",
		"believes.returns":                       "it is giving its lock back; it waits for the reply",
		"believes.returned":                      "it has given its lock back",
		"believes.robbed":                        "it has lost the lock: the release found that it was not its own any more",
		"believes.doubts":                        "nothing: it will never know whether its release got through",
		"believes.dead":                          "nothing any more: it is dead",
		"believes.still":                         " (it stands still)",
		"alarm.both":                             "{first} and {second} both believe that they hold the lock",
		"alarm.both-after-lease":                 "{first} and {second} both believe that they hold the lock, though {first}'s lease ended at {ended}",
		"alarm.broken":                           "violated: {properties}",
		"after.granted":                          "At the end what can be healed is healed, and all holders release. {client}, who took no part, asks for the lock, and gets it.",
		"after.refused":                          "At the end what can be healed is healed, and all holders release. {client}, who took no part, asks for the lock {times} times, the last time at {until}, and is refused each time.",
		"verdict.head":                           "The verdict on {lock}, judged by the recorded calls, with the steps that prove it:",
		"verdict.clean":                          "Nothing is violated.",
		"verdict.end":                            "end",
		"verdict.pass":                           "kept: {properties}",
		"verdict.unknown":                        "not put to the test: {properties}",
		"verdict.unexpected-outcome":             "This is NOT what the catalogue expects of this lock.",
		"verdict.unknown-outcome":                "This run proves nothing: the catalogue expects a verdict that could not be reached.",
		"why.head":                               "Why:  ",
		"fix.head":                               "Fix:  ",
		"end.again":                              "Judge it in full: ",
		"end.next":                               "Next demo:        ",
		"pause.prompt":                           "[any key: go on · q: leave]",
		"property.mutual-exclusion":              "mutual exclusion",
		"property.lease-exclusion":               "lease exclusion",
		"property.lease-honoured":                "lease honoured",
		"property.ownership":                     "ownership",
		"property.truthful-replies":              "truthful replies",
		"property.resource-safety":               "resource safety",
		"property.fencing":                       "fencing",
		"property.fairness":                      "fairness",
		"means.fairness":                         "a client that waited was overtaken again and again",
		"property.deadlock-freedom":              "deadlock freedom",
		"property.availability":                  "availability",
		"means.mutual-exclusion":                 "two believed that they held the lock, whatever their leases",
		"means.lease-exclusion":                  "two believed that they held the lock, and neither one's lease had ended",
		"means.lease-honoured":                   "the lock was given away before a holder's lease was over",
		"means.ownership":                        "a release ended the hold of somebody else",
		"means.truthful-replies":                 "a call was told something that is not so",
		"means.resource-safety":                  "an update was lost, or the data changed while a holder worked on them",
		"means.fencing":                          "tokens did not go up",
		"means.deadlock-freedom":                 "nobody held the lock, and yet nobody could have it",
		"means.availability":                     "the lock was refused although nobody held it",
		"script":                                 "‹{name}›: {does}",
		"script.compare-and-delete":              "if the key holds my token, delete it; 1 if it did, 0 if not",
		"script.fenced-acquire":                  "if the key is free, count the token up and set the key with its TTL; answers the token",
		"script.register-read":                   "with a token (0: none); answers value and version",
		"script.register-enter":                  "draws a new number; answers value, version and that number",
		"script.rw-hash-read":                    "if there is no writer, add me as a reader; 1 if it did",
		"script.rw-hash-write":                   "if there is no holder, add me as the writer; if there are readers, leave an intent that keeps new ones out; 1 if it added me",
		"script.rw-hash-release":                 "remove my own entry; answers how many it removed",
		"script.rw-hash-timestamp-read":          "if no writer's time is still good, set read to my time; 1 if it did",
		"script.rw-hash-timestamp-write":         "if no time is still good, set write to my time; 1 if it did",
		"script.rw-hash-timestamp-read-release":  "if read is my time, delete it; answers nothing",
		"script.rw-hash-timestamp-write-release": "if write is my time, delete it; answers nothing",
		"script.register-write":                  "with a token (0: none) and a value; answers the value and the version that it replaced",
	}
}
