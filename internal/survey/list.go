package survey

import "maps"

// What several variants share.
const (
	token   = "The key has a random token and an end; release and extend look at the token in a script, and say whether the lease was still held."
	shorter = "Keep sections shorter than the lease, and do nothing more when release says that it was lost. What must not be wrong needs a fence at the resource."
	recipe  = "The recipe of Redis's documentation, which is not the library's: SET NX PX with a random token, and a script that compares and deletes."
)

// timed is advice for clients whose calls have no time-out.
const timed = "Connect with socket_timeout, or a server that hangs keeps whoever asks. "

// endless is what an acquire without a time is documented to be.
const endless = "an acquire that does not say for how long is documented to last until it is released"

// takesAway is what adding a negative time is documented to be.
func takesAway() map[string]string {
	return map[string]string{"P71": "extend adds to the lease, and so takes from it what is less than nothing"}
}

// Libraries lists all, by language. A worker's command is one for a shell, from the root of the repository.
func Libraries() []Library {
	return append(append(python(), others()...), golang()...)
}

func python() []Library {
	const worker = "/usr/bin/python3 examples/libraries/python/"
	version := func(module, expression string) []string {
		return []string{"/usr/bin/python3", "-c", "import " + module + "; print(" + expression + ")"}
	}
	redispy := func(name, file string, declared map[string]string) Library {
		all := map[string]string{"A05": endless}
		maps.Copy(all, declared)
		return Library{
			Name: name, Language: "Python", Packages: []string{"python3-redis"}, Version: version("redis", "redis.__version__"),
			Worker: worker + file, Promises: token, Safely: timed + shorter, Declared: all,
			Confirm:  map[string]string{"A12": "/usr/bin/python3 examples/confirm/redis_py_hung.py"},
			Untimed:  "/usr/bin/python3 examples/confirm/untimed_redis_py.py",
			Upstream: map[string]string{"A12": "https://github.com/redis/redis-py/issues/2243"},
		}
	}
	asyncio := func(name, file string) Library {
		l := redispy(name, file, takesAway())
		l.Confirm["A12"] = "/usr/bin/python3 examples/confirm/redis_asyncio_hung.py"
		l.Untimed = "/usr/bin/python3 examples/confirm/untimed_redis_asyncio.py"
		return l
	}
	shared := redispy("redis-py Lock, thread_local=False", "redis_py_shared.py", takesAway())
	shared.Declared["A10"] = "with thread_local=False any thread may release what another one has taken"
	tasks := asyncio("redis.asyncio Lock, one for all tasks", "redis_asyncio_shared.py")
	tasks.Safely = "Make a lock object for each task that takes it. " + tasks.Safely
	tasks.Confirm["A10"] = "/usr/bin/python3 examples/confirm/redis_asyncio_shared.py"
	tasks.Upstream["A10"] = "https://github.com/aio-libs-abandoned/aioredis-py/issues/1040"
	replace := redispy("redis-py Lock, extend(ttl, replace_ttl=True)", "redis_py_replace.py", nil)
	replace.Safely = "Extend by more than 0 only: look at what is left of a budget before you pass it on. " + replace.Safely
	replace.Confirm["A13"] = "/usr/bin/python3 examples/confirm/redis_py_extend_by_nothing.py"
	replace.Upstream["A13"] = "https://github.com/redis/redis-py/issues/4279"
	django := redispy("django-redis lock", "django_redis_lock.py", takesAway())
	django.Packages = []string{"python3-redis", "python3-django", "python3-django-redis"}
	django.Version = version("django_redis", "'.'.join(map(str, django_redis.VERSION))")
	django.Untimed = "/usr/bin/python3 examples/confirm/untimed_django_redis.py"
	kombu := redispy("kombu Mutex", "kombu_mutex.py", map[string]string{"A19": "its block ends without an error if the lease is over"})
	kombu.Packages = []string{"python3-redis", "python3-kombu"}
	kombu.Version = version("kombu", "kombu.__version__")
	kombu.Untimed = "" // its expire must be given
	delete(kombu.Declared, "A05")
	kombu.Promises = "A block under a lock of redis-py that is not waited for. It ends in silence if the lease is over."
	return []Library{
		redispy("redis-py Lock", "redis_py.py", takesAway()),
		redispy("redis-py Lock, one for all threads", "redis_py_one.py", takesAway()),
		shared,
		replace,
		asyncio("redis.asyncio Lock", "redis_asyncio.py"),
		tasks,
		django,
		kombu,
	}
}

func others() []Library {
	php := func(name, file, namespace string, packages ...string) Library {
		return Library{
			Name: name, Language: "PHP", Packages: append([]string{"php-cli"}, packages...), Worker: "php examples/libraries/php/" + file,
			Version: []string{"dpkg-query", "-W", "-f", "${Version}", namespace},
		}
	}
	symfony := func(l Library, client string) Library {
		l.Untimed = "php examples/confirm/untimed_symfony.php " + client
		l.Promises = "The lock stands in a sorted set with a random token and an end. release() returns nothing; isAcquired() asks the server."
		l.Safely = "Give RedisStore the lease that you want as its initial one: new RedisStore($redis, 30.0). Ask isAcquired() before what must not be done twice."
		l.Declared = map[string]string{
			"A19": "release() returns nothing",
			"P71": "a refresh by less than nothing ends the lease, and says so by an exception",
		}
		l.Confirm = map[string]string{"A16": "php examples/confirm/symfony_default_lease.php"} // whatever ends a call early leaves the store's lease
		l.Upstream = map[string]string{"A16": "https://github.com/symfony/symfony/issues/29458"}
		return l
	}
	laravel := func(l Library, client string) Library {
		l.Untimed = "php examples/confirm/untimed_laravel.php " + client
		l.Declared = map[string]string{"A05": endless}
		l.Promises = "The key has a random owner and an end in whole seconds; release compares in a script, and returns whether the lease was still held. There is no extend."
		l.Safely = "Keep sections shorter than the lease, and look at what release() returns: false says that the lease was over. What must not be wrong needs a fence."
		return l
	}
	return []Library{
		symfony(php("Symfony Lock on phpredis", "symfony_phpredis.php", "php-symfony-lock", "php-symfony-lock", "php-redis"), "phpredis"),
		symfony(php("Symfony Lock on Predis", "symfony_predis.php", "php-symfony-lock", "php-symfony-lock", "php-predis"), "predis"),
		laravel(php("Laravel cache lock on phpredis", "laravel_phpredis.php", "php-illuminate-cache", "php-illuminate-cache", "php-illuminate-redis", "php-redis"), "phpredis"),
		laravel(php("Laravel cache lock on Predis", "laravel_predis.php", "php-illuminate-cache", "php-illuminate-cache", "php-illuminate-redis", "php-predis"), "predis"),
		{
			Name: "recipe on redis-rb", Language: "Ruby", Packages: []string{"ruby", "ruby-redis"},
			Version: []string{"ruby", "-e", "require 'redis'; puts Redis::VERSION"}, Worker: "ruby examples/libraries/ruby/redis_rb.rb",
			Promises: recipe + " The client sends a command once more if its connection breaks, as it documents.",
			Safely:   "Connect with reconnect_attempts: 0 for the lock, or look after a refusal whether the key has your own token. " + shorter,
			Upstream: map[string]string{"A11": "https://github.com/redis/redis-rb/issues/953"},
			Confirm:  map[string]string{"A11": "ruby examples/confirm/redis_rb_resend.rb"},
		},
		{
			Name: "recipe on node-redis", Language: "Node.js", Packages: []string{"nodejs", "node-redis"},
			Version:  []string{"env", "NODE_PATH=/usr/share/nodejs", "node", "-p", "require('redis/package.json').version"},
			Worker:   "env NODE_PATH=/usr/share/nodejs node examples/libraries/node/node_redis.js",
			Promises: recipe, Safely: "A command has no time-out: race it against a timer, or a server that hangs keeps whoever asks. " + shorter,
			Upstream: map[string]string{"A12": "https://github.com/redis/node-redis/issues/2175"},
			Confirm:  map[string]string{"A12": "env NODE_PATH=/usr/share/nodejs node examples/confirm/node_redis_hung.js"},
		},
	}
}

func golang() []Library {
	library := func(name, lock, module, promises, safely string) Library {
		return Library{
			Name: name, Language: "Go", Lock: lock, Version: []string{"go", "list", "-m", "-f", "{{.Version}}", module},
			Promises: promises, Safely: safely,
		}
	}
	const (
		redsync   = "github.com/go-redsync/redsync/v4"
		redislock = "github.com/bsm/redislock"
		rueidis   = "github.com/redis/rueidis"
		majority  = "A majority of five masters has the key with a random token and an end; release and extend compare in a script on each, and say what a majority answered."
		renewed   = "A context that ends when the lease is lost; the lease is renewed every half of it. The release is a function that returns nothing."
	)
	hangs := library("redsync on go-redis", "redsync", redsync, majority,
		"Make the clients with ContextTimeoutEnabled: true, and then redsync's own time-out for a node counts. "+shorter)
	const untimed = "go run examples/confirm/untimed_redsync.go"
	hangs.Untimed = untimed
	hangs.Confirm = map[string]string{"A12": "go run examples/confirm/redsync_hung_master.go"}
	hangs.Upstream = map[string]string{"A12": "https://github.com/redis/go-redis/issues/2215"}
	bounded := library("redsync on go-redis, ContextTimeoutEnabled", "redsync-context-timeout", redsync, majority, shorter)
	bounded.Untimed = untimed
	again := library("redsync on go-redis, WithSetNXOnExtend", "redsync-setnx-on-extend", redsync, majority,
		"Without the option an extend of a lease that is gone is refused, which is what most callers want. "+shorter)
	again.Untimed = untimed
	again.Declared = map[string]string{"A09": "the option is documented to set a key that is gone"}
	redigo := library("redsync on redigo", "redsync-redigo", redsync, majority,
		"Dial with redis.DialReadTimeout, for redigo waits for a reply for ever and redsync's own time-out does not reach it. "+shorter)
	redigo.Untimed = untimed
	redigo.Confirm = map[string]string{"A12": "go run examples/confirm/redsync_redigo_hung_master.go"}
	redigo.Upstream = map[string]string{"A12": "https://github.com/gomodule/redigo/issues/536"}
	silent := map[string]string{"A19": "its release is a function that returns nothing"}
	pxat := library("rueidislock", "rueidislock", rueidis, renewed,
		"Use FallbackSETPX, so that no clock of the caller decides at first; end sections well before the context would, and put a fence at the resource.")
	px := library("rueidislock, FallbackSETPX", "rueidislock-px", rueidis, renewed,
		"End sections well before the context would, and put a fence at the resource.")
	pxat.Declared, px.Declared = silent, silent
	pxat.Untimed = "go run examples/confirm/untimed_rueidislock.go"
	px.Untimed = pxat.Untimed
	const cutOff = "go run examples/confirm/rueidislock_cut_off.go"
	px.Confirm = map[string]string{"A03": cutOff, "A04": cutOff, "A17": "go run examples/confirm/rueidislock_resend.go"}
	pxat.Confirm = maps.Clone(px.Confirm)
	pxat.Confirm["A15"] = "go run examples/confirm/rueidislock_clock_ahead.go"
	pxat.Packages = []string{"libfaketime"} // for that
	return []Library{
		hangs,
		bounded,
		again,
		redigo,
		library("bsm/redislock on go-redis", "bsm-redislock", redislock, token, shorter),
		library("bsm/redislock on go-redis that sends again", "bsm-redislock-resend", redislock, token, shorter),
		pxat,
		px,
	}
}
