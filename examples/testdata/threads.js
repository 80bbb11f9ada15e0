'use strict'
// A sound lock in Node.js that several tasks may use at once, on one connection: replies come in the order of their commands.

const crypto = require('crypto')
const { serve, Redis, Refused } = require('../node/lockbench_worker')

const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
const EXTEND = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

class Threads {
  static keys = ['lock:%s']
  static promises = { default_ttl: 30000 }
  static threads = true
  static releasesTwice = true
  static releasesRefused = true

  constructor (addresses) {
    this.redis = new Redis(addresses[0])
  }

  async acquire (key, ttlMs) {
    const token = crypto.randomBytes(8).toString('hex')
    if (await this.redis.command('SET', 'lock:' + key, token, 'NX', 'PX', ttlMs) === null) throw new Refused('taken', 'lock is taken', token)
    return token
  }

  acquireDefault (key) {
    return this.acquire(key, 30000)
  }

  async release (key, token) {
    return await this.redis.command('EVAL', RELEASE, 1, 'lock:' + key, token) === 1
  }

  async extend (key, token, ttlMs) {
    return await this.redis.command('EVAL', EXTEND, 1, 'lock:' + key, token, ttlMs) === 1
  }

  async holds (key, token) {
    return await this.redis.command('GET', 'lock:' + key) === token
  }

  disconnect () {} // a task waits for its own replies
}

serve(Threads)
