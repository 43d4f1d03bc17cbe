// The world of the bursts benchmark: name server, certificate authority and HTTPS upstream in a process that is not measured.
// Pages are made and compressed before anybody asks: `/small/…`, `/large/…`, `/plain/…`, `/bomb/…`, told apart by what follows.
import { gzipSync } from 'node:zlib'
import { createTestCa } from '../../test/support/ca.ts'
import { startDnsServer } from '../../test/support/dns-server.ts'
import { startUpstream } from '../../test/support/upstream.ts'
import { pageOf } from '../pages.ts'

/** What the parent is told once everything listens. */
export interface World {
  readonly host: string
  readonly port: number
  readonly dnsAddress: string
  /** PEM. */
  readonly ca: string
}

const HOST = 'pages.example.com'
const KIB = 1024
/** Pages of one purchase differ, as pages of different sites do. */
const VARIANTS = 6

const variants = (make: (seed: number) => Buffer) =>
  Array.from({ length: VARIANTS }, (_, i) => make(1000 * i))
const large = variants((seed) => Buffer.from(pageOf(2 * KIB * KIB, seed)))
const pages: Readonly<Record<string, readonly Buffer[]>> = {
  small: variants((seed) => gzipSync(pageOf(128 * KIB, seed))),
  plain: large,
  large: large.map((page) => gzipSync(page)),
  bomb: [gzipSync(Buffer.alloc(64 * KIB * KIB, `${pageOf(4 * KIB, 7)}\n`))],
}

const ca = await createTestCa()
const dns = await startDnsServer({ [HOST]: { A: ['127.0.0.1'], ttl: 60 } })
const upstream = await startUpstream(await ca.leaf(HOST))
upstream.respond(({ target }, res) => {
  const [, kind = '', number = '0'] = target.split('/')
  const bodies = pages[kind]!
  const body = bodies[Number(number) % bodies.length]!
  res
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      ...(kind !== 'plain' && { 'content-encoding': 'gzip' }),
    })
    .end(body)
})
process.on('disconnect', () => process.exit(0))
process.send!({ host: HOST, port: upstream.port, dnsAddress: dns.address, ca: ca.pem } satisfies World)
