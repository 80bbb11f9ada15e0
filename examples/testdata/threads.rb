# frozen_string_literal: true

# A sound lock in Ruby that several threads may use at once, on a connection of each.

require "securerandom"
require_relative "../ruby/lockbench_worker"

class Threads
  KEYS = ["lock:%s"].freeze
  PROMISES = { default_ttl: 30_000 }.freeze
  THREADS = true
  RELEASES_TWICE = true
  RELEASES_REFUSED = true

  RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
  EXTEND = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

  def initialize(addresses, _setting)
    @address = addresses.first
  end

  def redis
    Thread.current[:redis] ||= Lockbench.connect(@address)
  end

  def acquire(key, ttl_ms)
    token = SecureRandom.hex
    raise Lockbench::Refused.new("taken", "lock is taken", token) unless redis.set("lock:#{key}", token, nx: true, px: ttl_ms)

    token
  end

  def acquire_default(key)
    acquire(key, 30_000)
  end

  def release(key, token)
    redis.eval(RELEASE, ["lock:#{key}"], [token]) == 1
  end

  def extend_lease(key, token, ttl_ms)
    redis.eval(EXTEND, ["lock:#{key}"], [token, ttl_ms]) == 1
  end

  def holds?(key, token)
    redis.get("lock:#{key}") == token
  end

  def disconnect
    # A thread waits for its own replies: none comes late for another.
  end
end

Lockbench.serve(Threads)
