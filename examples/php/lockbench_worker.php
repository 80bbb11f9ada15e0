<?php
// The worker protocol of lockbench, for locks in PHP. It needs the extension redis (Debian: php-redis).
//
//   require __DIR__ . '/lockbench_worker.php';
//
//   class MyLock {
//     const KEYS = ['lock:%s'];   // the names under which the lock is kept in Redis
//     const DATABASE = 0;         // the database that they are in
//     const PROMISES = [];        // see docs/worker-protocol.md
//     const RELEASES_REFUSED = false; // a refused acquire throws new Refused('taken', $text, $lease), and that lease may be released
//
//     function __construct(array $addresses, array $setting);   // 'host:port' of each master
//     function acquire(string $key, int $ttlMs);                // a lease, whatever you like; null: taken
//     function release(string $key, $lease): ?bool;             // true: it was ours; false: it was not
//     function extend(string $key, $lease, int $ttlMs): bool;   // the same             (may be left out)
//     function holds(string $key, $lease): bool;                // the same             (may be left out)
//     function wait(string $key, int $ttlMs, float $limitS);    // as acquire           (may be left out)
//     function acquireDefault(string $key);                     // as acquire, without saying for how long (may be left out)
//     function within(float $seconds): void;                    // the limit of each command from now on
//     function disconnect(): void;                              // forget connections on which a late reply may come
//   }
//
//   Lockbench\serve(MyLock::class);
//
// An Exception leaves the outcome open, save Refused; an Error ends the run.

declare(strict_types=1);

namespace Lockbench;

/** A definite refusal: what was asked for did not happen, and never will. */
class Refused extends \Exception
{
    /**
     * reason is taken, not-held, invalid or rejected. lease is what the caller of a refused acquire could release all the same; null:
     * nothing.
     */
    public function __construct(public string $reason, string $text, public mixed $lease = null)
    {
        parent::__construct($text);
    }
}

/** A connection to Redis that is opened when it is needed, and never sends a command twice. */
class Connection
{
    private ?\Redis $redis = null;
    private float $limit = 60;

    public function __construct(private string $address, private int $database = 0)
    {
    }

    /** Calls a method of the extension. An error reply is an Exception, too. */
    public function __call(string $method, array $args): mixed
    {
        if ($this->redis === null) {
            $at = strrpos($this->address, ':');
            $redis = new \Redis();
            $redis->connect(substr($this->address, 0, $at), (int) substr($this->address, $at + 1), $this->limit);
            $redis->setOption(\Redis::OPT_MAX_RETRIES, 0);
            $redis->setOption(\Redis::OPT_READ_TIMEOUT, $this->limit);
            if ($this->database > 0) {
                $redis->select($this->database);
            }
            $this->redis = $redis;
        }
        $this->redis->clearLastError();
        $reply = $this->redis->$method(...$args);
        if (($error = $this->redis->getLastError()) !== null) {
            throw new \RedisException($error);
        }
        return $reply;
    }

    public function within(float $seconds): void
    {
        $this->limit = $seconds;
        $this->redis?->setOption(\Redis::OPT_READ_TIMEOUT, $seconds);
    }

    public function disconnect(): void
    {
        $redis = $this->redis;
        $this->redis = null;
        try {
            $redis?->close();
        } catch (\RedisException) { // it is gone already
        }
    }
}

function now(): float
{
    return hrtime(true) / 1e6;
}

/** Answers requests, one method for each. */
class Worker
{
    private ?object $lock = null;
    private Connection $register;
    private array $scripts;
    private string $guard;
    private array $leases = []; // by the id of the acquire
    private ?array $refused = null; // what the latest acquire was refused, with the id of that

    public function __construct(private string $class)
    {
    }

    private function constant(string $name): mixed
    {
        return defined("$this->class::$name") ? constant("$this->class::$name") : null;
    }

    private function has(string $method): bool
    {
        return method_exists($this->class, $method);
    }

    public function hello(array $request): array
    {
        if (($request['newest'] ?? 1) < 2) {
            throw new \Error('this worker speaks protocol 2, and lockbench up to ' . ($request['newest'] ?? 1));
        }
        return array_filter([
            'protocol' => 2,
            'worker' => $this->class,
            'pid' => getmypid(),
            'can' => array_merge(
                array_values(array_filter(['extend', 'wait'], $this->has(...))),
                $this->has('holds') ? ['verify'] : [],
                $this->has('acquireDefault') ? ['without-ttl'] : [],
                $this->constant('RELEASES_REFUSED') ? ['release-refused'] : [],
            ),
            'guards' => array_merge(['none', 'elapsed', 'epoch'], $this->has('holds') ? ['check-token'] : []),
            'keys' => $this->constant('KEYS'),
            'database' => $this->constant('DATABASE'),
            'promises' => $this->constant('PROMISES'),
        ]);
    }

    public function configure(array $request): array
    {
        $this->guard = $request['guard'];
        $this->scripts = $request['register'];
        $this->register = new Connection($this->scripts['address']);
        if ($request['connect'] ?? false) {
            foreach ([...$request['nodes'], $this->scripts['address']] as $address) {
                (new Connection($address))->ping();
            }
        }
        $this->lock = new $this->class($request['nodes'], $request);
        return [];
    }

    public function acquire(array $request): array
    {
        $this->refused = null;
        try {
            return $this->attempt($request);
        } catch (Refused $why) {
            if ($why->lease !== null) {
                $this->refused = ['id' => $request['id'], 'key' => $request['key'], 'token' => $why->lease];
            }
            throw $why;
        }
    }

    private function attempt(array $request): array
    {
        $began = now();
        $ttl = (int) round($request['ttl'] ?? 0);
        if (empty($request['ttl'])) {
            if (isset($request['wait'])) {
                throw new \Error('without a ttl the lock is not waited for');
            }
            $token = $this->lock->acquireDefault($request['key']);
            $ttl = ($this->constant('PROMISES')['default_ttl'] ?? 0) ?: INF;
        } elseif (isset($request['wait'])) {
            $token = $this->lock->wait($request['key'], $ttl, $request['wait'] / 1000);
        } else {
            $token = $this->lock->acquire($request['key'], $ttl);
        }
        if ($token === null || $token === false) {
            throw new Refused('taken', 'lock is taken');
        }
        if (isset($request['wait'])) {
            $began = now(); // when its last try began, only the lock knows
        }
        $this->leases[$request['id']] = ['key' => $request['key'], 'token' => $token, 'epoch' => 0];
        return $this->lasting($request['id'], $request, $began + $ttl);
    }

    private function promises(string $what): bool
    {
        return $this->constant('PROMISES')[$what] ?? false;
    }

    /** A lease counts from before the command was sent: it ends here before it ends there. */
    private function lasting(int $id, array $request, float $ends): array
    {
        $ends = $this->promises('no_lease') ? INF : $ends;
        $this->leases[$id]['ends'] = $ends;
        return $ends === INF ? [] : ['remaining' => $ends - $request['began']];
    }

    private function lease(array $request): array
    {
        return $this->leases[$request['lease']] ?? throw new \Error("there is no lease {$request['lease']}, or it was released");
    }

    /** What the latest acquire was refused, if the request is about that. */
    private function refusal(array $request): ?array
    {
        return ($this->refused['id'] ?? null) === $request['lease'] ? $this->refused : null;
    }

    public function extend(array $request): array
    {
        $refused = $this->refusal($request);
        $lease = $refused ?? $this->lease($request);
        $ttl = (int) round($request['ttl'] ?? 0);
        $ends = ($this->promises('extend_adds') ? $lease['ends'] ?? now() : now()) + $ttl;
        if (!$this->lock->extend($lease['key'], $lease['token'], $ttl)) {
            throw new Refused('not-held', 'lock is not held');
        }
        return $refused ? [] : $this->lasting($request['lease'], $request, $ends);
    }

    public function verify(array $request): array
    {
        $lease = $this->lease($request);
        if (!$this->lock->holds($lease['key'], $lease['token'])) {
            throw new Refused('not-held', 'lock is not held');
        }
        return [];
    }

    public function release(array $request): array
    {
        $lease = $this->refusal($request);
        if ($lease === null) {
            $lease = $this->lease($request);
            unset($this->leases[$request['lease']]);
        }
        if ($this->lock->release($lease['key'], $lease['token']) === false) {
            throw new Refused('not-held', 'lock is not held');
        }
        return [];
    }

    public function read(array $request): array
    {
        $lease = $this->lease($request);
        $token = $lease['epoch'];
        if ($this->guard === 'epoch' && $token === 0) {
            [$value, $version, $token] = $this->access($lease, 'enter');
            $this->leases[$request['lease']]['epoch'] = $token;
        } else {
            [$value, $version] = $this->access($lease, 'read', $token);
        }
        return ['value' => $value, 'version' => $version, 'token' => $token];
    }

    public function write(array $request): array
    {
        $lease = $this->lease($request);
        if ($this->guard === 'elapsed' && now() >= $lease['ends']) {
            throw new Refused('elapsed', "the lease has ended by the client's clock");
        }
        if ($this->guard === 'check-token' && !$this->lock->holds($lease['key'], $lease['token'])) {
            throw new Refused('not-held', 'lock is not held');
        }
        if ($this->guard === 'epoch' && $lease['epoch'] === 0) {
            $this->read($request);
            $lease = $this->lease($request);
        }
        [, $replaced] = $this->access($lease, 'write', $lease['epoch'], $request['value'] ?? 0);
        return ['version' => $replaced, 'token' => $lease['epoch']];
    }

    /** Runs one of the register's scripts. One number means that the token is stale. */
    private function access(array $lease, string $script, int ...$args): array
    {
        $reply = $this->register->eval($this->scripts[$script], [$lease['key'] . $this->scripts['suffix'], ...$args], 1);
        if (count($reply) === 1) {
            throw new Refused('stale', 'fencing token is stale');
        }
        return array_map('intval', $reply);
    }

    public function answer(array $request): array
    {
        $methods = ['hello', 'configure', 'acquire', 'read', 'write', 'extend', 'verify', 'release'];
        $request['began'] = now();
        try {
            if (!in_array($request['op'], $methods, true)) {
                throw new \Error("no op {$request['op']}, only " . implode(', ', $methods));
            }
            if ($this->lock === null && !in_array($request['op'], ['hello', 'configure'], true)) {
                throw new \Error("{$request['op']} before configure");
            }
            if (isset($request['timeout']) && $this->lock !== null) {
                $limit = max($request['timeout'] / 1000, 0.001);
                $this->register->within($limit);
                $this->lock->within($limit);
            }
            return $this->{$request['op']}($request) + ['type' => 'ok'];
        } catch (Refused $why) {
            return ['type' => 'fail', 'reason' => $why->reason, 'error' => $why->getMessage()];
        } catch (\Exception $why) {
            if ($this->lock === null) {
                return ['type' => 'error', 'error' => $why->getMessage()];
            }
            $this->register->disconnect();
            $this->lock->disconnect();
            return ['type' => 'unknown', 'error' => $why->getMessage()];
        } catch (\Error $why) {
            fwrite(STDERR, "$why\n");
            return ['type' => 'error', 'error' => $why->getMessage()];
        }
    }
}

/** Answers lockbench until it is done. */
function serve(string $class): void
{
    ini_set('display_errors', 'stderr'); // standard output is lockbench's
    ini_set('default_socket_timeout', '-1');
    $worker = new Worker($class);
    while (($line = fgets(STDIN)) !== false) {
        $request = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
        echo json_encode($worker->answer($request) + ['id' => $request['id']], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}
