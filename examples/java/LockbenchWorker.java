// The worker protocol of lockbench, for locks in Java: see Lock and serve. It needs Java 17 and
// nothing else.

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

final class LockbenchWorker {
    /**
     * What lockbench calls, one method at a time. An exception leaves the outcome open, save Refused
     * and the ones that tell of a mistake in the program, which end the run.
     */
    interface Lock {
        /** Tries once, and returns a lease, whatever you like, or null: taken. */
        Object acquire(String key, long ttlMs) throws Exception;

        /** Says whether the lease was still ours. */
        boolean release(String key, Object lease) throws Exception;

        /** Forgets connections on which a late reply would be taken for the next one. */
        void disconnect();
    }

    /** A Lock whose leases can be made to last for ttlMs from now. */
    interface Extender {
        boolean extend(String key, Object lease, long ttlMs) throws Exception;
    }

    /** A Lock that can say whether a lease is still ours. */
    interface Holder {
        boolean holds(String key, Object lease) throws Exception;
    }

    /** A Lock that can wait, but no longer than limitMs: then it returns null. */
    interface Waiter {
        Object await(String key, long ttlMs, long limitMs) throws Exception;
    }

    /** A Lock that can be acquired without saying for how long. */
    interface DefaultAcquirer {
        Object acquireDefault(String key) throws Exception;
    }

    /** What else may be asked of a lock. */
    enum Can {
        /**
         * Several threads may use one Lock at a time. Each thread of a run is one here: it answers "unknown" when a request's
         * time is over, and what the call brings later is dropped. Without, a call is interrupted then, and disconnect called.
         */
        THREADS("threads"),
        /** What was released may be released again. */
        RELEASE_TWICE("release-twice"),
        /** A refused acquire throws a Refused with a lease, which may be released and extended. */
        RELEASE_REFUSED("release-refused");

        private final String word;

        Can(String word) {
            this.word = word;
        }
    }

    /**
     * What the lock is.
     *
     * @param keys the names under which the lock on %s is kept in Redis
     * @param database that they are in
     * @param promises see docs/worker-protocol.md
     */
    record About(String name, List<String> keys, int database, Map<String, Object> promises, Set<Can> can) {
        About(String name, List<String> keys, int database, Map<String, Object> promises) {
            this(name, keys, database, promises, Set.of());
        }
    }

    /** A definite refusal: what was asked for did not happen, and never will. */
    static final class Refused extends Exception {
        final String reason; // taken, not-held, invalid or rejected
        final Object lease; // what the caller of a refused acquire could release all the same; null: nothing

        Refused(String reason, String text) {
            this(reason, text, null);
        }

        Refused(String reason, String text, Object lease) {
            super(text);
            this.reason = reason;
            this.lease = lease;
        }
    }

    /**
     * A small client of Redis: one connection, opened when it is needed. A thread that was interrupted, as its call is over, gets
     * none: another one may be using it by now, and would wait for the replies that this one reads.
     */
    static final class Redis {
        private final String address;
        private final int database;
        private Connection open; // guarded by this; null: none

        Redis(String address, int database) {
            this.address = address;
            this.database = database;
        }

        /** Sends a command. An error reply is an IOException, too. */
        Object command(Object... args) throws IOException {
            return connection().command(args);
        }

        private Connection connection() throws IOException {
            synchronized (this) {
                if (open != null && !Thread.currentThread().isInterrupted()) {
                    return open;
                }
            }
            Connection made = new Connection(address);
            if (database > 0) {
                made.command("SELECT", database);
            }
            synchronized (this) {
                if (!Thread.currentThread().isInterrupted()) {
                    open = made;
                    return made;
                }
            }
            made.close();
            throw new IOException("the call is over");
        }

        synchronized void disconnect() {
            if (open != null) {
                open.close();
            }
            open = null;
        }
    }

    /** A connection to Redis. */
    private static final class Connection {
        private final Socket socket;
        private final InputStream in;

        Connection(String address) throws IOException {
            int at = address.lastIndexOf(':');
            socket = new Socket(address.substring(0, at), Integer.parseInt(address.substring(at + 1)));
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
        }

        Object command(Object... args) throws IOException {
            StringBuilder line = new StringBuilder("*" + args.length + "\r\n");
            for (Object a : args) {
                String text = String.valueOf(a);
                line.append("$" + text.getBytes(StandardCharsets.UTF_8).length + "\r\n" + text + "\r\n");
            }
            socket.getOutputStream().write(line.toString().getBytes(StandardCharsets.UTF_8));
            return reply();
        }

        private Object reply() throws IOException {
            String line = line();
            String rest = line.substring(1);
            switch (line.charAt(0)) {
                case '-':
                    throw new IOException(rest);
                case ':':
                    return Long.parseLong(rest);
                case '$':
                    if (rest.equals("-1")) {
                        return null;
                    }
                    byte[] value = in.readNBytes(Integer.parseInt(rest) + 2);
                    if (value.length < Integer.parseInt(rest) + 2) {
                        throw new IOException("the server closed the connection");
                    }
                    return new String(value, 0, value.length - 2, StandardCharsets.UTF_8);
                case '*':
                    List<Object> all = new ArrayList<>();
                    for (int i = Integer.parseInt(rest); i > 0; i--) {
                        all.add(reply());
                    }
                    return all;
                default:
                    return rest;
            }
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\r'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the server closed the connection");
                }
                line.append((char) c);
            }
            in.read(); // \n
            return line.toString();
        }

        void close() {
            try {
                socket.close();
            } catch (IOException gone) {
                // that was wanted
            }
        }
    }

    /** Answers lockbench until it is done. make is given "host:port" of each master. */
    static void serve(About about, Function<List<String>, Lock> make) throws IOException {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // standard output is lockbench's
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        LockbenchWorker worker = new LockbenchWorker(about, make);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> request = new Json(line).object();
            AtomicBoolean said = new AtomicBoolean();
            worker.take(request, answer -> {
                if (said.getAndSet(true)) {
                    return; // it came too late
                }
                answer.put("id", request.get("id"));
                synchronized (out) {
                    out.print(Json.text(answer) + "\n");
                    out.flush();
                }
            });
        }
        Runtime.getRuntime().halt(0); // whatever threads the lock has
    }

    /** A lease that was granted, and the section under it. */
    private static final class Lease {
        final String key;
        final Object own;
        volatile double ends = Double.POSITIVE_INFINITY;
        volatile long epoch;
        volatile boolean released;

        Lease(String key, Object own) {
            this.key = key;
            this.own = own;
        }
    }

    private final About about;
    private final Function<List<String>, Lock> make;
    // By the id of the acquire. A call that is over may still add its own.
    private final Map<Long, Lease> leases = new ConcurrentHashMap<>();
    private final Map<Long, Refusal> refused = new ConcurrentHashMap<>(); // by thread: what its latest acquire was refused
    private final Map<Long, ExecutorService> threads = new ConcurrentHashMap<>(); // of a lock with THREADS, by their numbers
    private final Map<Long, Redis> registers = new ConcurrentHashMap<>(); // by thread: its connection to the register
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private ExecutorService thread = Executors.newSingleThreadExecutor(); // that makes all calls of a lock without
    private volatile Lock lock;
    private Map<String, Object> scripts;
    private String guard;

    private LockbenchWorker(About about, Function<List<String>, Lock> make) {
        this.about = about;
        this.make = make;
    }

    /** What an acquire was refused, and the id of that. */
    private record Refusal(long id, Lease lease) {}

    /** Answers a request, here or in the thread that it is for. */
    private void take(Map<String, Object> request, Consumer<Map<String, Object>> say) {
        double began = now();
        if (lock == null || !about.can().contains(Can.THREADS)) {
            say.accept(answer(request, began));
            return;
        }
        long timeout = timeout(request);
        if (timeout > 0) {
            clock.schedule(() -> say.accept(map("type", "unknown", "error", "no answer in time")), timeout, TimeUnit.MILLISECONDS);
        }
        threads.computeIfAbsent(thread(request), number -> Executors.newSingleThreadExecutor()).execute(() -> {
            try {
                Map<String, Object> done = handle(request, began);
                done.put("type", "ok");
                say.accept(done);
            } catch (Throwable why) { // a thread waits for its own replies, and disturbs nobody else
                say.accept(failed(why, () -> register(request).disconnect()));
            }
        });
    }

    /** Answers a request of a lock that is for one thread. */
    private Map<String, Object> answer(Map<String, Object> request, double began) {
        long timeout = timeout(request);
        Runnable forget = () -> {
            register(request).disconnect();
            lock.disconnect();
        };
        try {
            Map<String, Object> done = thread
                .submit(() -> handle(request, began))
                .get(timeout > 0 ? timeout : Long.MAX_VALUE, TimeUnit.MILLISECONDS);
            done.put("type", "ok");
            return done;
        } catch (TimeoutException late) {
            thread.shutdownNow(); // its connections are closed below
            thread = Executors.newSingleThreadExecutor();
            return unknown("no answer in time", forget);
        } catch (InterruptedException end) {
            return unknown("interrupted", forget);
        } catch (ExecutionException thrown) {
            return failed(thrown.getCause(), forget);
        }
    }

    private Map<String, Object> failed(Throwable why, Runnable forget) {
        if (why instanceof Refused refused) {
            return map("type", "fail", "reason", refused.reason, "error", why.getMessage());
        }
        if (lock == null || why instanceof Error || why instanceof NullPointerException || why instanceof ClassCastException
            || why instanceof IllegalArgumentException || why instanceof IndexOutOfBoundsException) {
            why.printStackTrace();
            return map("type", "error", "error", why.toString());
        }
        return unknown(why.toString(), forget);
    }

    private Map<String, Object> unknown(String why, Runnable forget) {
        if (lock == null) {
            return map("type", "error", "error", why);
        }
        forget.run();
        return map("type", "unknown", "error", why);
    }

    private Map<String, Object> handle(Map<String, Object> r, double began) throws Exception {
        String op = (String) r.get("op");
        if (op.equals("hello")) {
            return hello(r);
        } else if (op.equals("configure")) {
            return configure(r);
        } else if (lock == null) {
            throw new IllegalArgumentException(op + " before configure");
        } else if (op.equals("acquire")) {
            return acquire(r, began);
        }
        Lease lease = lease(r);
        switch (op) {
            case "extend":
                double ends = (promises("extend_adds") ? lease.ends : now()) + ttl(r);
                held(((Extender) lock).extend(lease.key, lease.own, ttl(r)));
                return lasting(lease, ends, began);
            case "verify":
                held(((Holder) lock).holds(lease.key, lease.own));
                return map();
            case "release":
                held(lock.release(lease.key, lease.own));
                return map();
            case "read":
                return read(r, lease);
            case "write":
                return write(r, lease);
            default:
                throw new IllegalArgumentException("no op " + op + ", only hello, configure, acquire, read, write, extend, verify, release");
        }
    }

    /** The lease that a request is about. One that is released is gone after that, or after it is released again. */
    private Lease lease(Map<String, Object> r) {
        long id = (long) number(r, "lease");
        boolean releases = r.get("op").equals("release");
        Refusal refusal = refused.get(thread(r));
        if (refusal != null && refusal.id() == id && (releases || r.get("op").equals("extend"))) {
            return refusal.lease();
        }
        Lease lease = leases.get(id);
        if (lease == null || lease.released && !releases) {
            throw new IllegalArgumentException("there is no lease " + id + ", or it was released");
        }
        if (releases && (lease.released || !about.can().contains(Can.RELEASE_TWICE))) {
            leases.remove(id);
        }
        lease.released = lease.released || releases;
        return lease;
    }

    private static void held(boolean held) throws Refused {
        if (!held) {
            throw new Refused("not-held", "lock is not held");
        }
    }

    private Map<String, Object> hello(Map<String, Object> r) {
        if (number(r, "newest") < 2) {
            throw new IllegalArgumentException("this worker speaks protocol 2, and lockbench an older one");
        }
        Lock lock = make.apply(List.of("127.0.0.1:1"));
        List<Object> can = new ArrayList<>();
        if (lock instanceof Extender) {
            can.add("extend");
        }
        if (lock instanceof Waiter) {
            can.add("wait");
        }
        if (lock instanceof DefaultAcquirer) {
            can.add("without-ttl");
        }
        List<Object> guards = new ArrayList<>(List.of("none", "elapsed", "epoch"));
        if (lock instanceof Holder) {
            guards.add("check-token");
            can.add("verify");
        }
        about.can().forEach(c -> can.add(c.word));
        return map("protocol", 2, "worker", about.name(), "pid", ProcessHandle.current().pid(), "can", can, "guards", guards,
            "keys", about.keys(), "database", about.database(), "promises", about.promises());
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> configure(Map<String, Object> r) throws IOException {
        guard = (String) r.get("guard");
        scripts = (Map<String, Object>) r.get("register");
        List<String> nodes = (List<String>) r.get("nodes");
        if (Boolean.TRUE.equals(r.get("connect"))) {
            register(r).command("PING");
            for (String node : nodes) {
                Redis server = new Redis(node, 0);
                server.command("PING");
                server.disconnect();
            }
        }
        lock = make.apply(nodes);
        return map();
    }

    private Map<String, Object> acquire(Map<String, Object> r, double began) throws Exception {
        refused.remove(thread(r));
        try {
            return attempt(r, began);
        } catch (Refused refusal) {
            if (refusal.lease != null) {
                Lease lease = new Lease((String) r.get("key"), refusal.lease);
                refused.put(thread(r), new Refusal((long) number(r, "id"), lease));
            }
            throw refusal;
        }
    }

    private Map<String, Object> attempt(Map<String, Object> r, double began) throws Exception {
        String key = (String) r.get("key");
        double from = now();
        double lasts = ttl(r);
        Object own;
        if (number(r, "ttl") == 0) {
            if (r.containsKey("wait")) {
                throw new IllegalArgumentException("without a ttl the lock is not waited for");
            }
            own = ((DefaultAcquirer) lock).acquireDefault(key);
            lasts = number(about.promises(), "default_ttl") > 0 ? number(about.promises(), "default_ttl") : Double.POSITIVE_INFINITY;
        } else if (r.containsKey("wait")) {
            own = ((Waiter) lock).await(key, ttl(r), (long) number(r, "wait"));
            from = now(); // when its last try began, only the lock knows
        } else {
            own = lock.acquire(key, ttl(r));
        }
        if (own == null) {
            throw new Refused("taken", "lock is taken");
        }
        Lease lease = new Lease(key, own);
        leases.put((long) number(r, "id"), lease);
        return lasting(lease, from + lasts, began);
    }

    private boolean promises(String what) {
        return Boolean.TRUE.equals(about.promises().get(what));
    }

    /** A lease counts from before the command was sent: it ends here before it ends there. */
    private Map<String, Object> lasting(Lease lease, double ends, double began) {
        lease.ends = promises("no_lease") ? Double.POSITIVE_INFINITY : ends;
        return Double.isInfinite(lease.ends) ? map() : map("remaining", lease.ends - began);
    }

    private Map<String, Object> read(Map<String, Object> r, Lease lease) throws Exception {
        boolean enters = guard.equals("epoch") && lease.epoch == 0;
        List<Long> seen = enters ? access(r, lease, "enter") : access(r, lease, "read", lease.epoch);
        if (enters) {
            lease.epoch = seen.get(2);
        }
        return map("value", seen.get(0), "version", seen.get(1), "token", lease.epoch);
    }

    private Map<String, Object> write(Map<String, Object> r, Lease lease) throws Exception {
        if (guard.equals("elapsed") && now() >= lease.ends) {
            throw new Refused("elapsed", "the lease has ended by the client's clock");
        }
        if (guard.equals("check-token")) {
            held(((Holder) lock).holds(lease.key, lease.own));
        }
        if (guard.equals("epoch") && lease.epoch == 0) {
            read(r, lease);
        }
        List<Long> seen = access(r, lease, "write", lease.epoch, (long) number(r, "value"));
        return map("version", seen.get(1), "token", lease.epoch);
    }

    /** Runs one of the register's scripts. One number means that the token is stale. */
    private List<Long> access(Map<String, Object> r, Lease lease, String script, Object... args) throws Exception {
        List<Object> command = new ArrayList<>(List.of("EVAL", scripts.get(script), 1, lease.key + scripts.get("suffix")));
        command.addAll(List.of(args));
        List<Long> numbers = new ArrayList<>();
        for (Object n : (List<?>) register(r).command(command.toArray())) {
            numbers.add(Long.parseLong(String.valueOf(n)));
        }
        if (numbers.size() == 1) {
            throw new Refused("stale", "fencing token is stale");
        }
        return numbers;
    }

    private Redis register(Map<String, Object> r) {
        return registers.computeIfAbsent(thread(r), number -> new Redis((String) scripts.get("address"), 0));
    }

    /** For how many milliseconds a request may be tried; 0: as long as the lock likes. */
    private long timeout(Map<String, Object> r) {
        return promises("endless") ? 0 : (long) Math.ceil(number(r, "timeout"));
    }

    private static long thread(Map<String, Object> r) {
        return (long) number(r, "thread");
    }

    private static double now() {
        return System.nanoTime() / 1e6;
    }

    private static double number(Map<String, Object> r, String field) {
        return r.get(field) instanceof Number n ? n.doubleValue() : 0;
    }

    private static long ttl(Map<String, Object> r) {
        return Math.round(number(r, "ttl"));
    }

    private static Map<String, Object> map(Object... pairs) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            m.put((String) pairs[i], pairs[i + 1]);
        }
        return m;
    }

    /** Just enough of JSON for the protocol. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        @SuppressWarnings("unchecked")
        Map<String, Object> object() {
            return (Map<String, Object>) value();
        }

        private Object value() {
            switch (next()) {
                case '{':
                    Map<String, Object> object = new LinkedHashMap<>();
                    at++;
                    while (next() != '}') {
                        String name = string();
                        next();
                        at++; // :
                        object.put(name, value());
                        skip(',');
                    }
                    at++;
                    return object;
                case '[':
                    List<Object> list = new ArrayList<>();
                    at++;
                    while (next() != ']') {
                        list.add(value());
                        skip(',');
                    }
                    at++;
                    return list;
                case '"':
                    return string();
                default:
                    int from = at;
                    while (at < text.length() && "{}[],: \t".indexOf(text.charAt(at)) < 0) {
                        at++;
                    }
                    String word = text.substring(from, at);
                    if (word.equals("null")) {
                        return null;
                    }
                    if (word.equals("true") || word.equals("false")) {
                        return word.equals("true");
                    }
                    return word.matches("-?\\d+") ? (Object) Long.parseLong(word) : (Object) Double.parseDouble(word);
            }
        }

        private char next() {
            while (Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            return text.charAt(at);
        }

        private void skip(char c) {
            if (next() == c) {
                at++;
            }
        }

        private String string() {
            StringBuilder s = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                if (text.charAt(at) != '\\') {
                    s.append(text.charAt(at));
                    continue;
                }
                char c = text.charAt(++at);
                if (c == 'u') {
                    s.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else {
                    int special = "bfnrt".indexOf(c);
                    s.append(special < 0 ? c : "\b\f\n\r\t".charAt(special));
                }
            }
            at++;
            return s.toString();
        }

        static String text(Object value) {
            if (value instanceof Map<?, ?> object) {
                List<String> fields = new ArrayList<>();
                object.forEach((name, v) -> fields.add(text(name) + ":" + text(v)));
                return "{" + String.join(",", fields) + "}";
            }
            if (value instanceof List<?> list) {
                return "[" + String.join(",", list.stream().map(Json::text).toList()) + "]";
            }
            if (value == null || value instanceof Number || value instanceof Boolean) {
                return String.valueOf(value);
            }
            StringBuilder s = new StringBuilder("\"");
            for (char c : String.valueOf(value).toCharArray()) {
                s.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
            }
            return s.append('"').toString();
        }
    }
}
