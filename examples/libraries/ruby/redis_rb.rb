# frozen_string_literal: true

# The recipe of Redis's documentation (SET NX PX with a token, a script that compares and deletes) on redis-rb, with the
# client's defaults. Debian packages no lock for Ruby.
#
#   lockbench gate --worker 'ruby examples/libraries/ruby/redis_rb.rb'

require "securerandom"
require_relative "../../ruby/lockbench_worker"

class RedisRb
  KEYS = ["%s"].freeze
  THREADS = true
  RELEASES_TWICE = true
  RELEASES_REFUSED = true

  RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

  def initialize(addresses, _setting)
    host, port = addresses.first.split(":")
    @client = Redis.new(host: host, port: port.to_i)
  end

  def acquire(key, ttl_ms)
    token = SecureRandom.hex
    raise Lockbench::Refused.new("taken", "lock is taken", token) unless @client.set(key, token, nx: true, px: ttl_ms)

    token
  end

  def release(key, token)
    @client.eval(RELEASE, [key], [token]) == 1
  end

  def holds?(key, token)
    @client.get(key) == token
  end

  def disconnect
    @client.close
  end
end

Lockbench.serve(RedisRb)
