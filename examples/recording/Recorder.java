import java.io.*;
import java.util.concurrent.Callable;

/** Records the calls of an application's own lock as a history that lockbench check reads. */
public class Recorder {
    private final PrintStream out;
    private final long began = System.nanoTime();
    private long index, calls;

    public Recorder(String path) throws IOException { out = new PrintStream(new FileOutputStream(path), true, "UTF-8"); }

    public record Answer(boolean done, long attempt) {}

    /** Makes a call (acquire, extend or release), which says whether it was done, and records it. attempt is 0 for
     * an acquire, and for the others that of its Answer; ttl is in nanoseconds. After an exception nobody knows the outcome. */
    public Answer call(int worker, String what, String key, long attempt, long ttl, Callable<Boolean> call) throws Exception {
        long n; // a call is a process of its own, and an acquire an attempt of its own
        synchronized (this) { n = ++calls; }
        String quoted = key.replace("\\", "\\\\").replace("\"", "\\\"");
        String tail = ",\"process\":" + n + ",\"worker\":" + worker + ",\"f\":\"" + what + "\",\"key\":\"" + quoted
            + "\",\"attempt\":" + (attempt == 0 ? n : attempt);
        log("invoke", tail + ",\"ttl\":" + ttl);
        String outcome = "info";
        try {
            boolean done = call.call();
            outcome = done ? "ok" : "fail";
            return new Answer(done, attempt == 0 ? n : attempt);
        } finally { log(outcome, tail); }
    }

    private synchronized void log(String outcome, String tail) {
        out.println("{\"index\":" + index++ + ",\"time\":" + (System.nanoTime() - began) + ",\"type\":\"" + outcome + "\"" + tail + "}");
    }
}
