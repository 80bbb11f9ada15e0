'use strict'
// The worker protocol of lockbench, for locks in Node.js. It needs Node 14 and nothing else.
//
//   const { serve, Redis, Refused } = require('./lockbench_worker')
//
//   class MyLock {
//     static keys = ['lock:%s']   // the names under which the lock is kept in Redis
//     static database = 0         // the database that they are in
//     static promises = {}        // see docs/worker-protocol.md
//     static threads = false      // several tasks may use one MyLock at a time
//     static releasesTwice = false // what was released may be released again
//     static releasesRefused = false // a refused acquire throws new Refused('taken', text, lease), and that lease may be released
//
//     constructor(addresses, setting)        // 'host:port' of each master
//     async acquire(key, ttlMs)              // a lease, whatever you like; null: taken
//     async release(key, lease)              // true: it was ours; false: it was not
//     async extend(key, lease, ttlMs)        // the same             (may be left out)
//     async holds(key, lease)                // the same             (may be left out)
//     async wait(key, ttlMs, limitMs)        // as acquire           (may be left out)
//     async acquireDefault(key)              // as acquire, without saying for how long (may be left out)
//     disconnect()                           // forget connections on which a late reply may come
//   }
//
//   serve(MyLock)
//
// What a method throws leaves the outcome open, save Refused and the errors of the language. With threads, each thread of a run is
// a task here, and what a call brings after its time is dropped.

const net = require('net')
const readline = require('readline')

/** A definite refusal: what was asked for did not happen, and never will. */
class Refused extends Error {
  constructor (reason, text, lease = null) { // taken, not-held, invalid or rejected; lease: see releasesRefused
    super(text)
    this.reason = reason
    this.lease = lease
  }
}

/** A small client of Redis: one connection, opened when it is needed. */
class Redis {
  constructor (address, database = 0) {
    this.address = address
    this.database = database
  }

  /** Sends a command. Rejects with an Error if the server answers with one, or not at all. */
  command (...args) {
    if (!this.socket) this.connect()
    return this.send(args)
  }

  connect () {
    const at = this.address.lastIndexOf(':')
    const socket = net.connect(Number(this.address.slice(at + 1)), this.address.slice(0, at))
    const waiting = []
    let received = Buffer.alloc(0)
    const end = (why) => {
      if (this.socket === socket) this.socket = null
      while (waiting.length) waiting.shift().reject(why)
    }
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      for (let parsed; waiting.length && (parsed = parse(received, 0)); received = received.subarray(parsed.next)) {
        const asked = waiting.shift()
        if (parsed.value instanceof Error) asked.reject(parsed.value)
        else asked.resolve(parsed.value)
      }
    })
    socket.on('error', end)
    socket.on('close', () => end(new Error('the server closed the connection')))
    this.socket = socket
    this.waiting = waiting
    if (this.database) this.send(['SELECT', this.database]).catch((why) => socket.destroy(why))
  }

  send (args) {
    const parts = args.map((a) => Buffer.from(String(a)))
    const lines = parts.map((p) => Buffer.concat([Buffer.from(`$${p.length}\r\n`), p, Buffer.from('\r\n')]))
    this.socket.write(Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...lines]))
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
  }

  disconnect () {
    if (this.socket) this.socket.destroy()
    this.socket = null
  }
}

/** The reply that begins at an offset, and where the next one does; null: it is not there yet. */
function parse (data, at) {
  const end = data.indexOf('\r\n', at)
  if (end < 0) return null
  const rest = data.toString('utf8', at + 1, end)
  let next = end + 2
  switch (String.fromCharCode(data[at])) {
    case '-': return { value: new Error(rest), next }
    case ':': return { value: Number(rest), next }
    case '$': {
      if (Number(rest) < 0) return { value: null, next }
      if (data.length < next + Number(rest) + 2) return null
      return { value: data.toString('utf8', next, next + Number(rest)), next: next + Number(rest) + 2 }
    }
    case '*': {
      const value = []
      for (let i = 0; i < Number(rest); i++) {
        const item = parse(data, next)
        if (!item) return null
        value.push(item.value)
        next = item.next
      }
      return { value, next }
    }
  }
  return { value: rest, next }
}

const now = () => Number(process.hrtime.bigint()) / 1e6

class Worker {
  constructor (Lock) {
    this.Lock = Lock
    this.leases = new Map() // by the id of the acquire
    this.refused = new Map() // by the number of the thread: what its latest acquire was refused, with the id of that
    this.tasks = Lock.threads ? new Map() : null // by the number of the thread: its last call; null: the lock is for one
  }

  has (method) { return typeof this.Lock.prototype[method] === 'function' }

  hello (request) {
    if (!(request.newest >= 2)) throw new TypeError(`this worker speaks protocol 2, and lockbench up to ${request.newest || 1}`)
    return {
      protocol: 2,
      worker: this.Lock.name,
      pid: process.pid,
      can: ['extend', 'wait'].filter((m) => this.has(m))
        .concat(this.Lock.threads ? ['threads'] : [], this.Lock.releasesTwice ? ['release-twice'] : [])
        .concat(this.has('holds') ? ['verify'] : [], this.has('acquireDefault') ? ['without-ttl'] : [])
        .concat(this.Lock.releasesRefused ? ['release-refused'] : []),
      guards: ['none', 'elapsed', 'epoch'].concat(this.has('holds') ? ['check-token'] : []),
      keys: this.Lock.keys,
      database: this.Lock.database,
      promises: this.Lock.promises
    }
  }

  async configure (request) {
    this.guard = request.guard
    this.scripts = request.register
    this.register = new Redis(request.register.address)
    if (request.connect) {
      for (const address of request.nodes.concat(request.register.address)) {
        const server = new Redis(address)
        await server.command('PING')
        server.disconnect()
      }
    }
    this.lock = new this.Lock(request.nodes, request)
    return {}
  }

  async acquire (request) {
    const thread = request.thread || 0
    this.refused.delete(thread)
    try {
      return await this.attempt(request)
    } catch (why) {
      if (why instanceof Refused && why.lease !== null) this.refused.set(thread, { id: request.id, key: request.key, token: why.lease })
      throw why
    }
  }

  async attempt (request) {
    let began = now()
    const token = await this.obtain(request)
    if (token === null || token === undefined || token === false) throw new Refused('taken', 'lock is taken')
    if (request.wait) began = now() // when its last try began, only the lock knows
    const lease = { key: request.key, token, epoch: 0 }
    this.leases.set(request.id, lease)
    const lasts = request.ttl ? Math.round(request.ttl) : (this.Lock.promises || {}).default_ttl || Infinity
    return this.lasting(lease, request, began + lasts)
  }

  // Asks the lock for a lease: what it returns.
  obtain ({ key, ttl, wait }) {
    if (wait && !ttl) throw new TypeError('without a ttl the lock is not waited for')
    if (wait) return this.lock.wait(key, Math.round(ttl), wait)
    return ttl ? this.lock.acquire(key, Math.round(ttl)) : this.lock.acquireDefault(key)
  }

  promises (what) { return Boolean((this.Lock.promises || {})[what]) }

  // A lease counts from before the command was sent: it ends here before it ends there.
  lasting (lease, request, ends) {
    lease.ends = this.promises('no_lease') ? Infinity : ends
    if (lease.ends === Infinity) return {}
    return { remaining: lease.ends - request.began }
  }

  lease (request) {
    const lease = this.leases.get(request.lease)
    if (!lease) throw new TypeError(`there is no lease ${request.lease}, or it was released`)
    return lease
  }

  // What the thread's latest acquire was refused, if the request is about that.
  refusal (request) {
    const refused = this.refused.get(request.thread || 0)
    return refused && refused.id === request.lease ? refused : null
  }

  async extend (request) {
    const lease = this.refusal(request) || this.lease(request)
    const ends = (this.promises('extend_adds') && lease.ends ? lease.ends : now()) + Math.round(request.ttl || 0)
    if (!await this.lock.extend(lease.key, lease.token, Math.round(request.ttl || 0))) throw new Refused('not-held', 'lock is not held')
    return this.lasting(lease, request, ends)
  }

  async verify (request) {
    const lease = this.lease(request)
    if (!await this.lock.holds(lease.key, lease.token)) throw new Refused('not-held', 'lock is not held')
    return {}
  }

  async release (request) {
    let lease = this.refusal(request)
    if (!lease) {
      lease = this.lease(request)
      if (!this.Lock.releasesTwice || lease.released) this.leases.delete(request.lease)
      lease.released = true
    }
    if (await this.lock.release(lease.key, lease.token) === false) throw new Refused('not-held', 'lock is not held')
    return {}
  }

  async read (request) {
    const lease = this.lease(request)
    const enters = this.guard === 'epoch' && lease.epoch === 0
    const [value, version, epoch] = await (enters ? this.access(lease, 'enter') : this.access(lease, 'read', lease.epoch))
    if (enters) lease.epoch = epoch
    return { value, version, token: lease.epoch }
  }

  async write (request) {
    const lease = this.lease(request)
    if (this.guard === 'elapsed' && now() >= lease.ends) throw new Refused('elapsed', "the lease has ended by the client's clock")
    if (this.guard === 'check-token' && !await this.lock.holds(lease.key, lease.token)) throw new Refused('not-held', 'lock is not held')
    if (this.guard === 'epoch' && lease.epoch === 0) await this.read(request)
    const [, replaced] = await this.access(lease, 'write', lease.epoch, request.value || 0)
    return { version: replaced, token: lease.epoch }
  }

  // Runs one of the register's scripts. One number means that the token is stale.
  async access (lease, script, ...args) {
    const reply = await this.register.command('EVAL', this.scripts[script], 1, lease.key + this.scripts.suffix, ...args)
    if (reply.length === 1) throw new Refused('stale', 'fencing token is stale')
    return reply.map(Number)
  }

  async answer (request) {
    const methods = ['hello', 'configure', 'acquire', 'read', 'write', 'extend', 'verify', 'release']
    request.began = now()
    let timer
    try {
      if (!methods.includes(request.op)) throw new TypeError(`no op ${request.op}, only ${methods.join(', ')}`)
      if (!this.lock && !methods.slice(0, 2).includes(request.op)) throw new TypeError(`${request.op} before configure`)
      const late = new Promise((resolve, reject) => {
        if (request.timeout && !this.promises('endless')) timer = setTimeout(() => reject(new Error('no answer in time')), request.timeout)
      })
      const done = this.call(request)
      return Object.assign(await Promise.race([done, late]), { type: 'ok' })
    } catch (why) {
      if (why instanceof Refused) return { type: 'fail', reason: why.reason, error: why.message }
      if (!this.lock || [TypeError, ReferenceError, RangeError, SyntaxError].some((kind) => why instanceof kind)) {
        console.error(why)
        return { type: 'error', error: String(why.message) }
      }
      if (!this.tasks) { // a task waits for its own reply, and disturbs nobody else
        this.register.disconnect()
        this.lock.disconnect()
      }
      return { type: 'unknown', error: String(why.message) }
    } finally {
      clearTimeout(timer)
    }
  }

  // Does what is asked for, after what the same task was asked for before.
  async call (request) {
    if (!this.tasks) return this[request.op](request)
    const before = this.tasks.get(request.thread || 0)
    const done = (async () => {
      await before
      return this[request.op](request)
    })()
    this.tasks.set(request.thread || 0, done.catch(() => {}))
    return done
  }
}

/** Answers lockbench until it is done. */
async function serve (Lock) {
  const worker = new Worker(Lock)
  process.on('unhandledRejection', () => {}) // of calls that were given up
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    const said = worker.answer(request).then((answer) => {
      process.stdout.write(JSON.stringify(Object.assign(answer, { id: request.id })) + '\n')
    })
    if (!worker.tasks || request.op === 'configure') await said
  }
  process.exit(0)
}

module.exports = { serve, Redis, Refused }
