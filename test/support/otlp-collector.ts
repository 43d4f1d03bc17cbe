// A collector of OTLP in JSON over HTTP: keeps what it is sent, as bytes and as what they say.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface OtlpValue {
  readonly stringValue?: string
  readonly intValue?: string | number
  readonly doubleValue?: number
}
interface OtlpAttribute {
  readonly key: string
  readonly value: OtlpValue
}

export interface CollectedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface OtlpCollector {
  readonly url: string
  /** Every body as it came, one after the other. */
  bytes(): Buffer
  /** Paths that were posted to. */
  paths(): readonly string[]
  headers(): readonly NodeJS.Dict<string | string[]>[]
  spans(): readonly CollectedSpan[]
  /** Names of metrics. */
  metrics(): ReadonlySet<string>
  /** What to answer from now on. */
  answer(status: number): void
  close(): Promise<void>
}

const valueOf = ({ stringValue, intValue, doubleValue }: OtlpValue) =>
  stringValue ?? (intValue === undefined ? doubleValue : Number(intValue))

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const received: { path: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = []
  let status = 200
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      received.push({ path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks) })
      res.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const parsed = (path: string) =>
    received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body.toString()))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => Buffer.concat(received.map(({ body }) => body)),
    paths: () => received.map(({ path }) => path),
    headers: () => received.map(({ headers }) => headers),
    spans: () =>
      parsed('/v1/traces')
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map((span) => ({
          ...span,
          links: span.links ?? [],
          attributes: Object.fromEntries(
            (span.attributes as OtlpAttribute[]).map(({ key, value }) => [key, valueOf(value)]),
          ),
        })),
    metrics: () =>
      new Set(
        parsed('/v1/metrics')
          .flatMap(({ resourceMetrics }) => resourceMetrics)
          .flatMap(({ scopeMetrics }) => scopeMetrics)
          .flatMap(({ metrics }) => metrics)
          .map(({ name }: { name: string }) => name),
      ),
    answer: (next) => void (status = next),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
