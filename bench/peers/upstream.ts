// Upstream of the egress benchmark: HTTPS with keep-alive, a constant 180-byte JSON answer.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const body = Buffer.from(
  JSON.stringify({ ok: true, items: Array.from({ length: 8 }, (_, i) => ({ id: i, name: `item-${i}` })) }),
)
const server = createServer(
  {
    key: readFileSync(process.env['TLS_KEY']!),
    cert: readFileSync(process.env['TLS_CERT']!),
    keepAliveTimeout: 120_000,
  },
  (req, res) => {
    req.resume()
    req.on('end', () =>
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body),
    )
  },
)
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on https://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
