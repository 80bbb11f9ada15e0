// Your lock, as lockbench calls it. Put your own code into MyLock; what is there is sound.
//
//   javac *.java && lockbench gate --backend process --worker 'java MyLock'

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;

final class MyLock implements LockbenchWorker.Lock, LockbenchWorker.Extender {
    private static final LockbenchWorker.About ABOUT = new LockbenchWorker.About(
        "MyLock",
        List.of("lock:%s"), // under which names the lock on %s is kept
        0, // the database that they are in
        Map.of() // what your lock keeps beyond that, such as "tolerance", 500; see lockbench's docs/worker-protocol.md
    );

    private static final String COMPARE_AND_DELETE =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    private static final String COMPARE_AND_EXPIRE =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    private final LockbenchWorker.Redis redis;

    MyLock(List<String> addresses) {
        redis = new LockbenchWorker.Redis(addresses.get(0), ABOUT.database());
    }

    /** Returns a lease, or null if somebody else holds the lock. Tries once. */
    @Override
    public Object acquire(String key, long ttlMs) throws IOException {
        String token = UUID.randomUUID().toString();
        return "OK".equals(redis.command("SET", "lock:" + key, token, "NX", "PX", ttlMs)) ? token : null;
    }

    /** Says whether the lease was still ours. */
    @Override
    public boolean release(String key, Object lease) throws IOException {
        return redis.command("EVAL", COMPARE_AND_DELETE, 1, "lock:" + key, lease).equals(1L);
    }

    /** Says whether the lease was still ours, and lasts for ttlMs from now. Remove it if your lock cannot. */
    @Override
    public boolean extend(String key, Object lease, long ttlMs) throws IOException, LockbenchWorker.Refused {
        if (ttlMs <= 0) { // Redis would delete the key
            throw new LockbenchWorker.Refused("invalid", "a lease lasts for more than 0 ms");
        }
        return redis.command("EVAL", COMPARE_AND_EXPIRE, 1, "lock:" + key, lease, ttlMs).equals(1L);
    }

    /** Forgets connections on which a late reply would be taken for the next one. */
    @Override
    public void disconnect() {
        redis.disconnect();
    }

    public static void main(String[] args) throws IOException {
        LockbenchWorker.serve(ABOUT, MyLock::new);
    }
}
