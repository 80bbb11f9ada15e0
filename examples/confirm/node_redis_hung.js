// node-redis: a server that takes connections and answers nothing keeps a SET NX for as long as one looks.
const net = require('net')
const { createClient } = require('redis')

const hung = net.createServer(() => {}).listen(0, '127.0.0.1', async () => {
  const client = createClient({ url: 'redis://127.0.0.1:' + hung.address().port })
  client.on('error', () => {})
  const call = client.connect().then(() => client.set('orders/42', 'mine', { NX: true, PX: 1000 })).then(() => false, () => false)
  const hangs = await Promise.race([call, new Promise(resolve => setTimeout(resolve, 10000, true))]) // ten times the lease
  console.log('the server hangs: after 10 s the acquire of a lease of 1 s has not returned: ' + hangs)
  process.exit(hangs ? 0 : 1)
})
