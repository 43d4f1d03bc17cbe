// The sample site behind the reserved name `sandbox.agent-gateway.test`: something real to act on without a network.
// It exists in sandbox mode only, starts with the first request to it, and answers over TLS like any other upstream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { SANDBOX_HOST } from '../egress/target.ts'

export interface SampleSite {
  /** Starts the server on the first call. `ca` is the only authority that vouches for it. */
  start(): Promise<{ address: string; port: number; ca: string }>
  close(): Promise<void>
}

const SLOW_MS = 5000

export function createSampleSite(now: () => number): SampleSite {
  let running: Promise<{ server: Server; address: string; port: number; ca: string }> | undefined

  async function listen() {
    // Only the sandbox needs to issue certificates, and only when somebody calls the site.
    const { issueCertificate } = await import('./certificate.ts')
    const { ca, cert, key } = await issueCertificate(SANDBOX_HOST, now())
    const server = createServer({ cert, key }, answer)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    server.unref()
    return { server, address: '127.0.0.1', port: (server.address() as AddressInfo).port, ca }
  }

  return {
    async start() {
      const { address, port, ca } = await (running ??= listen())
      return { address, port, ca }
    },
    async close() {
      if (!running) return
      const { server } = await running
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

type Page = (req: IncomingMessage, res: ServerResponse, url: URL) => void

const json = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)

const pages: Readonly<Record<string, Page>> = {
  '/api/whoami': (req, res) => {
    const scheme = req.headers.authorization?.split(' ')[0]
    if (scheme === undefined) return void json(res, 401, { authenticated: false })
    json(res, 200, { authenticated: true, scheme })
  },
  // What debug pages of real services do, and why every answer is searched before it goes back.
  '/api/echo': (req, res) => void json(res, 200, { method: req.method, headers: req.headers }),
  '/api/orders': (req, res) => {
    if (req.method !== 'POST') return void json(res, 405, { error: 'POST an order' })
    const key = req.headers['idempotency-key']
    let size = 0
    req.on('data', (chunk: Buffer) => (size += chunk.length))
    req.on('end', () =>
      json(res, 201, { accepted: true, bytes: size, has_idempotency_key: key !== undefined }),
    )
  },
  '/slow': (_req, res) => {
    const timer = setTimeout(() => json(res, 200, { slow: true }), SLOW_MS)
    res.once('close', () => clearTimeout(timer))
  },
  '/fail': (req) => void req.socket.destroy(),
  '/redirect': (_req, res) => void res.writeHead(302, { location: 'https://127.0.0.1/' }).end(),
  '/': (_req, res) =>
    void json(res, 200, { site: SANDBOX_HOST, try: Object.keys(pages).filter((path) => path !== '/') }),
}

function answer(req: IncomingMessage, res: ServerResponse): void {
  const url = new URL(req.url ?? '/', `https://${SANDBOX_HOST}`)
  const page = Object.hasOwn(pages, url.pathname) ? pages[url.pathname] : undefined
  if (page) page(req, res, url)
  else json(res, 404, { error: 'no such page' })
}
