// PDFs over the wire into the process that is shipped: a real HTTPS server, the gateway's own way out, the built file.
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { WebExtractionResult } from '../../schemas/web-extraction.ts'
import type { GatewayError } from '../../src/core/errors.ts'
import { createAnalyserPool } from '../../src/outcomes/adapters/pool.ts'
import { webExtraction } from '../../src/outcomes/capabilities/web-extraction.ts'
import type { ClaimField } from '../../src/outcomes/claims.ts'
import { createGather } from '../../src/outcomes/sources/gather.ts'
import { createReader } from '../../src/outcomes/sources/reader.ts'
import { PROSE, prosePdf, writePdf } from '../support/pdf.ts'
import { startSources, type TestSources } from '../support/sources.ts'

let world: TestSources
let pool: ReturnType<typeof createAnalyserPool>
const accepted: (string | undefined)[] = []

/** Spaces, far more than a process may have: each block unpacks by itself, so they are packed once. */
function bomb(): Buffer {
  const block = deflateRawSync(Buffer.alloc(1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH })
  const packed = [Buffer.from([0x78, 0x9c]), ...Array.from({ length: 1500 }, () => block)]
  return writePdf({ pages: [{ content: Buffer.concat(packed), filter: '/FlateDecode' }] })
}
const files: Readonly<Record<string, () => readonly [type: string, body: Buffer]>> = {
  '/tea.pdf': () => ['application/pdf', prosePdf({ info: '/Title (On tea)' })],
  '/scan.pdf': () => ['application/pdf', writePdf({ pages: [{}] })],
  '/bomb.pdf': () => ['application/pdf', bomb()],
  '/tea.html': () => ['text/html', Buffer.from(`<title>Tea</title><main><p>${PROSE.join(' ')}</p></main>`)],
}

beforeAll(async () => {
  world = await startSources('a.example.com', 'b.example.com', 'c.example.com')
  world.upstream.respond((request, res) => {
    accepted.push(request.headers.find(([name]) => name === 'accept')?.[1])
    const [type, body] = files[request.target]?.() ?? ['text/plain', Buffer.from('nothing')]
    res.writeHead(200, { 'content-type': type }).end(body)
  })
  pool = createAnalyserPool({
    workerUrl: new URL('../../dist/outcome-worker.js', import.meta.url),
    startMs: 60_000,
    budgetMs: 30_000,
    // The one process reads what unpacks to far too much while the other document waits for it.
    maxWaitMs: 60_000,
    workers: 1,
  })
})
afterAll(async () => {
  await pool?.close()
  await world?.close()
})

const extract = (urls: readonly string[], query?: string) => {
  const claims = { urls, ...(query === undefined ? {} : { query }) }
  return webExtraction
    .prepare(new Map(Object.entries(claims)) as ReadonlyMap<ClaimField, unknown>, { isDemo: false })
    .run({
      signal: new AbortController().signal,
      analyser: pool,
      gather: createGather({
        reader: createReader(world.parts),
        rules: world.parts.rules,
        now: Date.now,
        // Longer than whatever the process is given.
        limits: { addressMs: 60_000, sourceMs: 100_000 },
      }),
    })
}

it('a PDF is a document beside the page that says the same, and both are found to be one', async () => {
  const delivered = await extract(
    [world.url('/tea.pdf'), world.url('/tea.html', 'b.example.com')],
    'boiling water',
  )
  const result = delivered.result as WebExtractionResult
  expect(accepted[0]).toContain('application/pdf')
  expect(
    result.documents.map(({ format, mode, pages, document }) => [format, mode, pages, document.title]),
  ).toEqual([
    ['pdf', 'pdf', 1, 'On tea'],
    ['html', expect.any(String), undefined, 'Tea'],
  ])
  const [pdf, html] = result.documents
  expect(pdf?.text_sha256, 'the same rules make the same text').toBe(html?.text_sha256)
  expect(result.duplicates).toEqual([{ kind: 'exact', documents: ['d1', 'd2'], similarity: 1 }])
  expect(result.passages[0]?.text).toContain('boiling water')
  expect(result.coverage.sources[0]?.retrieved).toMatchObject({
    format: 'pdf',
    charset: null,
    text_sha256: pdf?.text_sha256,
  })
})

it('one that holds no text is not charged and says what to send', async () => {
  const thrown = (await extract([world.url('/scan.pdf')]).catch((error: unknown) => error)) as GatewayError
  expect(thrown).toMatchObject({ code: 'sources_unusable', reason: 'pdf_without_text' })
})

it('one that unpacks to more than a process may have ends that process alone', async () => {
  const [bombed, read] = await Promise.allSettled([
    extract([world.url('/bomb.pdf', 'c.example.com')]),
    extract([world.url('/tea.pdf')]),
  ])
  expect(bombed).toMatchObject({
    status: 'rejected',
    reason: { code: 'sources_unusable', reason: 'pdf_too_complex' },
  })
  expect(read).toMatchObject({ status: 'fulfilled', value: { result: { documents: [{ format: 'pdf' }] } } })
})
