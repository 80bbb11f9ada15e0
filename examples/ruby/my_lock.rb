# frozen_string_literal: true

# Your lock, as lockbench calls it. Put your own code into MyLock; what is there is sound.
#
#   lockbench gate --backend process --worker 'ruby my_lock.rb'

require "securerandom"
require_relative "lockbench_worker"

class MyLock
  KEYS = ["lock:%s"].freeze # under which names the lock on %s is kept
  PROMISES = {}.freeze # what your lock keeps beyond that, such as { tolerance: 500 }; see lockbench's docs/worker-protocol.md

  COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
  COMPARE_AND_EXPIRE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

  def initialize(addresses, _setting)
    @client = Lockbench.connect(addresses.first)
  end

  # Returns a lease, or nil if somebody else holds the lock. Tries once.
  def acquire(key, ttl_ms)
    token = SecureRandom.uuid
    token if @client.set("lock:#{key}", token, nx: true, px: ttl_ms)
  end

  # Says whether the lease was still ours.
  def release(key, lease)
    @client.eval(COMPARE_AND_DELETE, ["lock:#{key}"], [lease]) == 1
  end

  # Says whether the lease was still ours, and lasts for ttl_ms from now. Remove it if your lock cannot.
  def extend_lease(key, lease, ttl_ms)
    # Redis would delete the key.
    raise Lockbench::Refused.new("invalid", "a lease lasts for more than 0 ms") if ttl_ms <= 0

    @client.eval(COMPARE_AND_EXPIRE, ["lock:#{key}"], [lease, ttl_ms]) == 1
  end

  # Forgets connections on which a late reply would be taken for the next one.
  def disconnect
    @client.close
  end
end

Lockbench.serve(MyLock)
