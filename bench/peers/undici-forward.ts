// Peer of the egress benchmark: the least that forwards a request. node:http in, the same validation of the same input,
// undici out, keep-alive, same TLS, and the same log: a line per call where LOG_LEVEL is info.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { createLogger, LogField, type LogLevel } from '../../src/lib/log.ts'
import { egressFetch } from '../../tools/egress-fetch.ts'

const log = createLogger(process.env['LOG_LEVEL'] as LogLevel)

const dispatcher = new Agent({
  allowH2: false,
  connect: { lookup: loopback as LookupFunction },
  connections: 64,
})

/** The upstream's name has no DNS entry anywhere; both sides of the comparison reach it on loopback. */
function loopback(
  _host: string,
  options: { all?: boolean },
  callback: (error: null, address: string | { address: string; family: number }[], family?: number) => void,
): void {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

const server = createServer((req, res) => {
  const started = performance.now()
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const call = egressFetch.input.parse(JSON.parse(Buffer.concat(chunks).toString()))
    void request(call.url, {
      method: call.method,
      headers: { authorization: 'Bearer bench-secret-bench-secret' },
      dispatcher,
    }).then(async (answer) => {
      const body = await answer.body.text()
      const reply = Buffer.from(JSON.stringify({ status: answer.statusCode, headers: answer.headers, body }))
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length }).end(reply)
      if (!log.isLevelEnabled('info')) return
      const { method, url } = call
      const { statusCode: code } = answer
      const ms = performance.now() - started
      log.info(
        { [LogField.requestId]: randomUUID(), method, url, [LogField.code]: code, [LogField.ms]: ms },
        'call',
      )
    })
  })
})
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
