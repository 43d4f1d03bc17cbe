// Upstream of the benchmark of programs: HTTPS, a small JSON answer, events with the time at which each was sent, and streams that stay silent.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const body = Buffer.from(JSON.stringify({ ok: true, items: Array.from({ length: 8 }, (_, id) => ({ id })) }))
const server = createServer(
  {
    key: readFileSync(process.env['TLS_KEY']!),
    cert: readFileSync(process.env['TLS_CERT']!),
    keepAliveTimeout: 120_000,
  },
  (req, res) => {
    req.resume()
    const { pathname, searchParams } = new URL(req.url ?? '/', 'https://localhost')
    if (pathname === '/items')
      return res
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body)
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    // The clocks of all processes of a machine are one.
    const send = () => res.write(`data: ${performance.timeOrigin + performance.now()}\n\n`)
    send()
    if (pathname === '/idle') return
    let left = Number(searchParams.get('count')) - 1
    const timer = setInterval(() => {
      if (left-- > 0) return send()
      clearInterval(timer)
      res.end()
    }, 50)
  },
)
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on https://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
