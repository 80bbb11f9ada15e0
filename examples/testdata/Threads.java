// A sound lock in Java that several threads may use at once, on a connection of each.

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

final class Threads implements LockbenchWorker.Lock, LockbenchWorker.Extender, LockbenchWorker.Holder,
        LockbenchWorker.DefaultAcquirer {
    private static final LockbenchWorker.About ABOUT =
        new LockbenchWorker.About("Threads", List.of("lock:%s"), 0, Map.of("default_ttl", 30000), Set.of(LockbenchWorker.Can.values()));

    private static final String COMPARE_AND_DELETE =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    private static final String COMPARE_AND_EXPIRE =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    private final ThreadLocal<LockbenchWorker.Redis> redis;

    Threads(List<String> addresses) {
        redis = ThreadLocal.withInitial(() -> new LockbenchWorker.Redis(addresses.get(0), 0));
    }

    @Override
    public Object acquire(String key, long ttlMs) throws IOException, LockbenchWorker.Refused {
        String token = UUID.randomUUID().toString();
        if (!"OK".equals(redis.get().command("SET", "lock:" + key, token, "NX", "PX", ttlMs))) {
            throw new LockbenchWorker.Refused("taken", "lock is taken", token);
        }
        return token;
    }

    @Override
    public Object acquireDefault(String key) throws IOException, LockbenchWorker.Refused {
        return acquire(key, 30000);
    }

    @Override
    public boolean release(String key, Object lease) throws IOException {
        return redis.get().command("EVAL", COMPARE_AND_DELETE, 1, "lock:" + key, lease).equals(1L);
    }

    @Override
    public boolean extend(String key, Object lease, long ttlMs) throws IOException {
        return redis.get().command("EVAL", COMPARE_AND_EXPIRE, 1, "lock:" + key, lease, ttlMs).equals(1L);
    }

    @Override
    public boolean holds(String key, Object lease) throws IOException {
        return lease.equals(redis.get().command("GET", "lock:" + key));
    }

    @Override
    public void disconnect() {
        // A thread waits for its own replies: none comes late for another.
    }

    public static void main(String[] args) throws IOException {
        LockbenchWorker.serve(ABOUT, Threads::new);
    }
}
