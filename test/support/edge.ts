// A gateway whose edge serves the local upstream: the record is what `edge check` asks for, in the local DNS. Requests are
// written as bytes, because no HTTP library sends the targets and headers that have to be refused.
import { connect } from 'node:net'
import { startTestGateway, type TestGateway, UPSTREAM_HOST, type WorldOptions } from './gateway.ts'
import type { GatewayOptions } from '../../src/app/gateway.ts'

export const EDGE_NAME = 'gw.example.net'
export const CONSENT_NAME = `_agent-gateway.${UPSTREAM_HOST}`

export interface EdgeAnswer {
  readonly status: number
  /** Lower-case names, in wire order, repetitions kept. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** The first of that name. */
  header(name: string): string | undefined
  /** Of a problem document. */
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly problem: any
}

export interface EdgeRequest {
  readonly method?: string
  /** Latin-1, names and values as they go on the wire; Content-Length is added unless given or chunked. */
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: Buffer | string
}

export interface EdgeGateway extends TestGateway {
  /** `/edge/<host>:<port>` of the upstream. */
  readonly merchant: string
  /** The record that consents, to publish it or a changed one. */
  readonly record: string
  /** Asked for at once: that a record was absent is remembered for a minute. */
  publish(...records: string[]): Promise<void>
  send(target: string | Buffer, request?: EdgeRequest): Promise<EdgeAnswer>
}

export async function startEdgeGateway(
  options: WorldOptions & Omit<GatewayOptions, 'extraCa'> = {},
): Promise<EdgeGateway> {
  const gateway = await startTestGateway({
    ...options,
    env: { GATEWAY_EDGE_NAME: EDGE_NAME, ...options.env },
  })
  const host = `${UPSTREAM_HOST}:${gateway.upstream.port}`
  const check = async () => (await gateway.rest('POST', '/v1/edge/check', { host })).body
  const record: string = (await check()).expected
  const publish = async (...records: string[]) => {
    gateway.dns.set(CONSENT_NAME, { TXT: records, ttl: 0 })
    await check()
  }
  await publish(record)
  return {
    ...gateway,
    merchant: `/edge/${host}`,
    record,
    publish,
    send: (target, request) => sendRaw(gateway.gateway.port, target, request),
  }
}

/** One request on a connection of its own. */
export async function sendRaw(
  port: number,
  target: string | Buffer,
  { method = 'POST', headers = [], body = '' }: EdgeRequest = {},
): Promise<EdgeAnswer> {
  const bytes = Buffer.from(body)
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const all: (readonly [string, string])[] = [
    ...(names.has('host') ? [] : [['Host', `127.0.0.1:${port}`] as const]),
    ...headers,
    ...(names.has('content-length') || names.has('transfer-encoding')
      ? []
      : [['Content-Length', String(bytes.length)] as const]),
    ...(names.has('connection') ? [] : [['Connection', 'close'] as const]),
  ]
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return exchange(
    port,
    Buffer.concat([
      Buffer.from(`${method} `),
      Buffer.from(target),
      Buffer.from(` HTTP/1.1\r\n${head}\r\n`, 'latin1'),
      bytes,
    ]),
  )
}

/** Reads one answer by its own framing. */
function exchange(port: number, request: Buffer): Promise<EdgeAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let received = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const answer = parseAnswer(received)
      if (!answer) return
      resolve(answer)
      socket.destroy()
    })
    socket.on('close', () => reject(new Error(`no whole answer: ${received.toString('latin1')}`)))
  })
}

function parseAnswer(bytes: Buffer): EdgeAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(line.split(' ')[1])
  // An interim answer is followed by the one that counts.
  if (status < 200) return parseAnswer(bytes.subarray(end + 4))
  const headers = lines.map((text): [string, string] => {
    const colon = text.indexOf(':')
    return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()]
  })
  const header = (name: string) => headers.find(([other]) => other === name)?.[1]
  const length = status === 204 || status === 304 ? 0 : Number(header('content-length'))
  const body = bytes.subarray(end + 4, end + 4 + length)
  if (body.length < length) return undefined
  return {
    status,
    headers,
    body,
    header,
    get problem() {
      return JSON.parse(body.toString())
    },
  }
}
