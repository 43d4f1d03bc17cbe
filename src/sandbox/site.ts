// The sample site behind the reserved name `sandbox.agent-gateway.test`: something real to act on without a network.
// It exists in sandbox mode only, starts with the first request to it, and answers over TLS like any other upstream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { samplePages } from '../data/samples/index.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import { ARTICLE } from './article.ts'
import { answerTea } from './tea-api.ts'

export interface SampleSite {
  /** Starts the server on the first call. `ca` is the only authority that vouches for it. */
  start(): Promise<{ address: string; port: number; ca: string }>
  close(): Promise<void>
}

const SLOW_MS = 5000

/** The site listens on loopback, on a free port, from the first `start` on. */
export function createSampleSite(now: () => number): SampleSite {
  let running: Promise<{ server: Server; address: string; port: number; ca: string }> | undefined

  async function listen() {
    // The sandbox alone issues certificates, and only when somebody calls the site.
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
      const { server } = (await running?.catch(() => undefined)) ?? {}
      if (server === undefined) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

type Page = (req: IncomingMessage, res: ServerResponse, url: URL) => void

const json = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)

const html = (res: ServerResponse, body: string) =>
  res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body)

const pages: Readonly<Record<string, Page>> = {
  '/api/whoami': (req, res) => {
    const scheme = req.headers.authorization?.split(' ')[0]
    if (scheme === undefined) return void json(res, 401, { authenticated: false })
    json(res, 200, { authenticated: true, scheme })
  },
  // Debug pages of real services echo requests, which is why every answer is searched before it goes back.
  '/api/echo': (req, res) => void json(res, 200, { method: req.method, headers: req.headers }),
  '/api/items': (_req, res) =>
    void json(res, 200, {
      items: [{ id: 1, name: 'Green tea', price: { amount: '4.50', currency: 'USD' } }],
    }),
  '/article': (_req, res) => void html(res, ARTICLE),
  '/text': (_req, res) =>
    void res
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
      .end('Plain text with ümläuts and 茶.\n'),
  // The page is in the charset of old pages, and only its header says so.
  '/latin1': (_req, res) =>
    void res
      .writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' })
      .end(Buffer.from('<!doctype html><title>Caf\xe9</title><p>\x93Th\xe9 vert\x94: 4,50 \x80', 'latin1')),
  '/gzip': (req, res) => {
    const accepts = /\bgzip\b/.test(String(req.headers['accept-encoding'] ?? ''))
    res.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      ...(accepts && { 'content-encoding': 'gzip' }),
    })
    res.end(accepts ? gzipSync(ARTICLE) : ARTICLE)
  },
  // The page is longer than what one fetch takes.
  '/big': (_req, res) =>
    void html(res, `<!doctype html><title>Big</title>${'<p>The same paragraph again.</p>\n'.repeat(10_000)}`),
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
    void json(res, 200, {
      site: SANDBOX_HOST,
      try: [...Object.keys(pages).filter((path) => path !== '/'), ...samples.keys(), '/tea/openapi.json'],
    }),
}

/** Articles, shops and feeds for the paid outcomes. */
const samples = samplePages(`https://${SANDBOX_HOST}`)

function answer(req: IncomingMessage, res: ServerResponse): void {
  const url = new URL(req.url ?? '/', `https://${SANDBOX_HOST}`)
  const page = Object.hasOwn(pages, url.pathname) ? pages[url.pathname] : undefined
  const sample = samples.get(url.pathname)
  const tea = answerTea(url)
  if (page) page(req, res, url)
  else if (tea) json(res, tea.status, tea.body)
  else if (sample) {
    const { contentType, contentLanguage, body } = sample
    res.writeHead(200, {
      'content-type': contentType,
      ...(contentLanguage !== undefined && { 'content-language': contentLanguage }),
    })
    res.end(body)
  } else json(res, 404, { error: 'no such page' })
}
