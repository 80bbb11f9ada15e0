# frozen_string_literal: true

# The worker protocol of lockbench, for locks in Ruby. It needs the gem redis (Debian: ruby-redis).
#
#   require_relative "lockbench_worker"
#
#   class MyLock
#     KEYS = ["lock:%s"]   # the names under which the lock is kept in Redis
#     DATABASE = 0         # the database that they are in
#     PROMISES = {}        # see docs/worker-protocol.md
#     THREADS = false      # several threads may use one MyLock at a time
#     RELEASES_TWICE = false # what was released may be released again
#     RELEASES_REFUSED = false # a refused acquire raises Refused.new("taken", text, lease), and that lease may be released
#
#     def initialize(addresses, setting)      # "host:port" of each master
#     def acquire(key, ttl_ms)                # a lease, whatever you like; nil: taken
#     def release(key, lease)                 # true: it was ours; false: it was not
#     def extend_lease(key, lease, ttl_ms)    # the same             (may be left out)
#     def holds?(key, lease)                  # the same             (may be left out)
#     def wait(key, ttl_ms, limit_s)          # as acquire           (may be left out)
#     def acquire_default(key)                # as acquire, without saying for how long (may be left out)
#     def disconnect                          # forget connections on which a late reply may come
#   end
#
#   Lockbench.serve(MyLock)
#
# What a method raises leaves the outcome open, save Refused and the errors of the language. With THREADS, each thread of a run
# is one here: it answers "unknown" when a request's time is over, and what the call brings later is dropped. Without, the main
# thread makes all calls, and breaks them off.

require "json"
require "redis"
require "timeout"

module Lockbench
  # A definite refusal: what was asked for did not happen, and never will.
  class Refused < StandardError
    attr_reader :reason # taken, not-held, invalid or rejected
    attr_reader :lease # what the caller of a refused acquire could release all the same; nil: nothing

    def initialize(reason, text, lease = nil)
      super(text)
      @reason = reason
      @lease = lease
    end
  end

  # The worker cannot do what was asked: lockbench must not go on.
  class Impossible < StandardError; end

  # The request's time is over. No StandardError, as a library may rescue those and try again.
  class TimedOut < Exception; end # rubocop:disable Lint/InheritException

  OPTIONAL = { extend_lease: "extend", holds?: "verify", wait: "wait", acquire_default: "without-ttl" }.freeze
  CONSTANTS = { THREADS: "threads", RELEASES_TWICE: "release-twice", RELEASES_REFUSED: "release-refused" }.freeze
  METHODS = %w[hello configure acquire read write extend verify release].freeze

  # A client that sends nothing twice: a SET NX that is sent again meets its own key.
  def self.connect(address, database = 0)
    host, _, port = address.rpartition(":")
    Redis.new(host: host, port: port.to_i, db: database, reconnect_attempts: 0, timeout: 60)
  end

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC) * 1000
  end

  # Answers requests, one method for each.
  class Worker
    def initialize(lock)
      @class = lock
      @leases = {} # by the id of the acquire
      @refused = {} # by thread: what its latest acquire was refused, with the id of that
      @threads = constant(:THREADS) ? {} : nil # by their numbers: the requests that wait for each
      @out = Mutex.new
    end

    def constant(name)
      @class.const_defined?(name) && @class.const_get(name)
    end

    def hello(request)
      raise Impossible, "this worker speaks protocol 2, and lockbench up to #{request['newest'] || 1}" if request["newest"].to_i < 2

      guards = %w[none elapsed epoch]
      guards << "check-token" if @class.method_defined?(:holds?)
      answer = { protocol: 2, worker: @class.name, pid: Process.pid, guards: guards }
      answer[:can] = OPTIONAL.select { |method, _| @class.method_defined?(method) }.values
      answer[:can] += CONSTANTS.select { |name, _| constant(name) }.values
      { keys: :KEYS, database: :DATABASE, promises: :PROMISES }.each do |field, constant|
        answer[field] = @class.const_get(constant) if @class.const_defined?(constant)
      end
      answer
    end

    def configure(request)
      @guard = request["guard"]
      @scripts = request["register"]
      (request["nodes"] + [@scripts["address"]]).each { |a| Lockbench.connect(a).ping } if request["connect"]
      @lock = @class.new(request["nodes"], request)
      {}
    end

    def acquire(request)
      thread = request["thread"] || 0
      @refused.delete(thread)
      attempt(request)
    rescue Refused => e
      @refused[thread] = { id: request["id"], key: request["key"], token: e.lease } if e.lease
      raise
    end

    def attempt(request)
      began = Lockbench.now
      token = obtain(request)
      raise Refused.new("taken", "lock is taken") unless token

      began = Lockbench.now if request["wait"] # when its last try began, only the lock knows
      @leases[request["id"]] = lease = { key: request["key"], token: token, epoch: 0 }
      lasting(lease, request, began + (ttl(request) || default_ttl))
    end

    # Asks the lock for a lease: what it returns.
    def obtain(request)
      ttl = ttl(request)
      raise Impossible, "without a ttl the lock is not waited for" if request["wait"] && ttl.nil?
      return @lock.wait(request["key"], ttl, request["wait"] / 1000.0) if request["wait"]

      ttl ? @lock.acquire(request["key"], ttl) : @lock.acquire_default(request["key"])
    end

    # For how long the lease shall last; nil: that is not said.
    def ttl(request)
      request["ttl"]&.nonzero?&.round
    end

    # For how long one lasts of which that was not said.
    def default_ttl
      lasts = promises?(:default_ttl)
      lasts && lasts.positive? ? lasts : Float::INFINITY
    end

    def promises?(what)
      promises = constant(:PROMISES)
      promises && promises[what]
    end

    # The calling thread's connection.
    def register
      Thread.current[:register] ||= Lockbench.connect(@scripts["address"])
    end

    # A lease counts from before the command was sent: it ends here before it ends there.
    def lasting(lease, request, ends)
      lease[:ends] = promises?(:no_lease) ? Float::INFINITY : ends
      lease[:ends].infinite? ? {} : { remaining: lease[:ends] - request["began"] }
    end

    def lease(request)
      @leases.fetch(request["lease"]) { raise Impossible, "there is no lease #{request['lease']}, or it was released" }
    end

    # What the thread's latest acquire was refused, if the request is about that.
    def refusal(request)
      refused = @refused[request["thread"] || 0]
      refused if refused && refused[:id] == request["lease"]
    end

    def extend(request)
      lease = refusal(request) || lease(request)
      ttl = request["ttl"].to_f.round
      ends = (promises?(:extend_adds) && lease[:ends] || Lockbench.now) + ttl
      raise Refused.new("not-held", "lock is not held") unless @lock.extend_lease(lease[:key], lease[:token], ttl)

      lasting(lease, request, ends)
    end

    def verify(request)
      lease = lease(request)
      raise Refused.new("not-held", "lock is not held") unless @lock.holds?(lease[:key], lease[:token])

      {}
    end

    def release(request)
      lease = refusal(request)
      if lease.nil?
        lease = lease(request)
        @leases.delete(request["lease"]) if lease[:released] || !constant(:RELEASES_TWICE)
        lease[:released] = true
      end
      raise Refused.new("not-held", "lock is not held") if @lock.release(lease[:key], lease[:token]) == false

      {}
    end

    def read(request)
      lease = lease(request)
      if @guard == "epoch" && lease[:epoch].zero?
        value, version, lease[:epoch] = access(lease, "enter")
      else
        value, version = access(lease, "read", lease[:epoch])
      end
      { value: value, version: version, token: lease[:epoch] }
    end

    def write(request)
      lease = lease(request)
      raise Refused.new("elapsed", "the lease has ended by the client's clock") if @guard == "elapsed" && Lockbench.now >= lease[:ends]
      raise Refused.new("not-held", "lock is not held") if @guard == "check-token" && !@lock.holds?(lease[:key], lease[:token])

      read(request) if @guard == "epoch" && lease[:epoch].zero?
      _, replaced = access(lease, "write", lease[:epoch], request["value"] || 0)
      { version: replaced, token: lease[:epoch] }
    end

    # Runs one of the register's scripts. One number means that the token is stale.
    def access(lease, script, *args)
      reply = register.eval(@scripts[script], [lease[:key] + @scripts["suffix"]], args)
      raise Refused.new("stale", "fencing token is stale") if reply.size == 1

      reply.map(&:to_i)
    end

    # For how many seconds the request may be tried; nil: as long as the lock likes.
    def limit(request)
      request["timeout"]&./(1000.0) unless promises?(:endless)
    end

    # Answers a request whose call is broken off after so many seconds; nil: it is not.
    def answer(request, limit)
      request["began"] = Lockbench.now
      raise Impossible, "no op #{request['op']}, only #{METHODS.join(', ')}" unless METHODS.include?(request["op"])
      raise Impossible, "#{request['op']} before configure" unless @lock || METHODS.first(2).include?(request["op"])

      done = Timeout.timeout(limit, TimedOut) { public_send(request["op"], request) }
      done.merge(type: "ok")
    rescue Refused => e
      { type: "fail", reason: e.reason, error: e.message }
    rescue Impossible, NameError, TypeError, ArgumentError, LocalJumpError => e
      warn e.full_message
      { type: "error", error: e.message }
    rescue StandardError, TimedOut => e
      return { type: "error", error: e.message } unless @lock

      register.close
      @lock.disconnect unless @threads # a thread waits for its own reply, and disturbs nobody else
      { type: "unknown", error: e.is_a?(TimedOut) ? "no answer in time" : e.message }
    end

    # Answers a request, here or in the thread that it is for.
    def take(request)
      return say(request, answer(request, limit(request))) if !@threads || METHODS.first(2).include?(request["op"])

      waits = Queue.new # for the first answer
      if (limit = limit(request))
        Thread.new { sleep(limit) && waits << { type: "unknown", error: "no answer in time" } }
      end
      Thread.new { say(request, waits.pop) }
      (@threads[request["thread"] || 0] ||= thread) << [request, waits]
    end

    # Starts a thread of the run, and returns where its requests go.
    def thread
      requests = Queue.new
      Thread.new do
        loop do
          request, answers = requests.pop
          answers << answer(request, nil)
        end
      end
      requests
    end

    def say(request, answer)
      @out.synchronize { puts JSON.generate(answer.merge(id: request["id"])) }
    end
  end

  # Answers lockbench until it is done.
  def self.serve(lock)
    worker = Worker.new(lock)
    $stdout.sync = true
    $stdin.each_line { |line| worker.take(JSON.parse(line)) }
    exit!(0) # whatever threads the lock has
  end
end
