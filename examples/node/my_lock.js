'use strict'
// Your lock, as lockbench calls it. Put your own code into MyLock; what is there is sound.
//
//   lockbench gate --backend process --worker 'node my_lock.js'

const { randomUUID } = require('crypto')
const { serve, Redis, Refused } = require('./lockbench_worker') // this client of Redis is here to need nothing else

const COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
const COMPARE_AND_EXPIRE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

class MyLock {
  static keys = ['lock:%s'] // under which names the lock on %s is kept
  static promises = {} // what your lock keeps beyond that, such as { tolerance: 500 }; see lockbench's docs/worker-protocol.md

  constructor (addresses, setting) {
    this.client = new Redis(addresses[0])
  }

  /** Returns a lease, or null if somebody else holds the lock. Tries once. */
  async acquire (key, ttlMs) {
    const token = randomUUID()
    return await this.client.command('SET', 'lock:' + key, token, 'NX', 'PX', ttlMs) === 'OK' ? token : null
  }

  /** Says whether the lease was still ours. */
  async release (key, lease) {
    return await this.client.command('EVAL', COMPARE_AND_DELETE, 1, 'lock:' + key, lease) === 1
  }

  /** Says whether the lease was still ours, and lasts for ttlMs from now. Remove it if your lock cannot. */
  async extend (key, lease, ttlMs) {
    if (ttlMs <= 0) throw new Refused('invalid', 'a lease lasts for more than 0 ms') // Redis would delete the key
    return await this.client.command('EVAL', COMPARE_AND_EXPIRE, 1, 'lock:' + key, lease, ttlMs) === 1
  }

  /** Forgets connections on which a late reply would be taken for the next one. */
  disconnect () {
    this.client.disconnect()
  }
}

serve(MyLock)
