'use strict'
// The recipe of Redis's documentation (SET NX PX with a token, a script that compares and deletes) on node-redis, with the
// client's defaults. Debian packages no lock for Node.js.
//
//   lockbench gate --worker 'env NODE_PATH=/usr/share/nodejs node examples/libraries/node/node_redis.js'

const { randomUUID } = require('crypto')
const { createClient } = require('redis')
const { serve, Refused } = require('../../node/lockbench_worker')

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

class NodeRedis {
  static keys = ['%s']
  static promises = { endless: true } // a command has no time-out
  static threads = true // what lockbench calls a thread is a task here
  static releasesTwice = true
  static releasesRefused = true

  constructor (addresses, setting) {
    this.address = addresses[0]
  }

  async connected () {
    if (!this.client) {
      const client = createClient({ url: 'redis://' + this.address })
      client.on('error', () => {}) // it connects again by itself
      this.client = client
      this.connecting = client.connect()
    }
    await this.connecting
    return this.client
  }

  async acquire (key, ttlMs) {
    const client = await this.connected()
    const token = randomUUID()
    if (await client.set(key, token, { NX: true, PX: ttlMs }) !== 'OK') throw new Refused('taken', 'lock is taken', token)
    return token
  }

  async release (key, token) {
    const client = await this.connected()
    return await client.eval(RELEASE, { keys: [key], arguments: [token] }) === 1
  }

  async holds (key, token) {
    const client = await this.connected()
    return await client.get(key) === token
  }

  disconnect () {
    if (this.client) this.client.disconnect().catch(() => {})
    this.client = null
  }
}

serve(NodeRedis)
