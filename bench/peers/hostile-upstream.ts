// An upstream over TLS that answers `/v1/hostile/<n>` with the n-th body that is dear to search, 1 MiB each, and anything else with
// 180 bytes of JSON.
import { setPriority } from 'node:os'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { adversarialBodies } from '../../test/support/adversarial-bodies.ts'

// It stands for another machine: whoever wants a core here goes first.
setPriority(15)

const plain = Buffer.from(JSON.stringify({ ok: true, items: Array.from({ length: 8 }, (_, id) => ({ id })) }))
const bodies = Object.values(adversarialBodies(1 << 20, process.env['SECRET'] ?? ''))
const server = createServer(
  { key: readFileSync(process.env['TLS_KEY'] ?? ''), cert: readFileSync(process.env['TLS_CERT'] ?? '') },
  (req, res) => {
    const [, number] = /^\/v1\/hostile\/(\d+)/.exec(req.url ?? '') ?? []
    const body = number === undefined ? plain : (bodies[Number(number)] ?? plain)
    req.resume().on('end', () => res.writeHead(200, { 'content-length': body.length }).end(body))
  },
)
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on https://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
