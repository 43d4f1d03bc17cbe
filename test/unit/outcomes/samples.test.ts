// The sample sources say the same whoever serves them: the demo's reader and the sandbox's site.
import { createHash } from 'node:crypto'
import { get } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samplePages } from '../../../src/data/samples/index.ts'
import { SANDBOX_HOST } from '../../../src/egress/target.ts'
import { createSampleReader, SAMPLE_ORIGIN } from '../../../src/outcomes/sources/sample.ts'
import { createSampleSite, type SampleSite } from '../../../src/sandbox/site.ts'

const NOW = 1_790_000_000_000
const DEMO_PATHS = [
  '/tea/one',
  '/tea/two',
  '/shop/sencha-a',
  '/shop/sencha-b',
  '/feeds/hardware.xml',
  '/feeds/software.xml',
]
const options = {
  wanted: 'page',
  maxAgeSeconds: 0,
  timeoutMs: 1000,
  signal: new AbortController().signal,
} as const

describe('the sample reader', () => {
  const reader = createSampleReader(() => NOW)

  it.each(DEMO_PATHS)('reads %s with a digest of its bytes', async (path) => {
    const answer = await reader.read(SAMPLE_ORIGIN + path, options)
    if (!answer.ok) throw new Error(answer.detail)
    const { source } = answer
    expect(source).toMatchObject({ url: SAMPLE_ORIGIN + path, status: 200, isCut: false, retrievedAt: NOW })
    expect(source.sha256).toBe(createHash('sha256').update(source.body).digest('hex'))
    // Its own address stands in it, and no other sample's.
    expect(source.body.toString()).toContain(SAMPLE_ORIGIN + path)
    expect(source.body.toString()).not.toContain(SANDBOX_HOST)
  })

  it.each([
    `${SAMPLE_ORIGIN}/nothing`,
    `${SAMPLE_ORIGIN}.example/tea/one`,
    'https://other.example/tea/one',
    SAMPLE_ORIGIN,
  ])('gives a reason for %s, and asks nobody', async (url) => {
    expect(await reader.read(url, options)).toMatchObject({
      ok: false,
      reason: 'http_status',
      httpStatus: 404,
    })
  })
})

describe('the sample site', () => {
  let site: SampleSite
  let at: { address: string; port: number; ca: string }
  beforeAll(async () => {
    site = createSampleSite(Date.now)
    at = await site.start()
  })
  afterAll(() => site.close())

  const read = (path: string) =>
    new Promise<{ status: number; type: string | undefined; body: Buffer }>((resolve, reject) => {
      const request = {
        host: at.address,
        port: at.port,
        ca: at.ca,
        servername: SANDBOX_HOST,
        path,
        agent: false,
      }
      get(request, (res) => {
        const chunks: Buffer[] = []
        res.on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            type: res.headers['content-type'],
            body: Buffer.concat(chunks),
          }),
        )
      }).on('error', reject)
    })

  const pages = samplePages(`https://${SANDBOX_HOST}`)

  it.each([...pages.keys()])('serves %s byte for byte, with its type', async (path) => {
    const page = pages.get(path)!
    const answer = await read(path)
    expect(answer).toMatchObject({ status: 200, type: page.contentType })
    expect(answer.body.equals(page.body)).toBe(true)
  })

  it('lists every page at its root, and each of them answers', async () => {
    const { try: paths } = JSON.parse((await read('/')).body.toString()) as { try: string[] }
    expect(paths).toEqual(expect.arrayContaining([...pages.keys(), '/article']))
    expect((await read('/tea/none')).status).toBe(404)
  })

  it('has the old page in windows-1252: its bytes are no UTF-8', () => {
    const { body } = pages.get('/tea/cp1252')!
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(body)).toThrow(TypeError)
    expect(new TextDecoder('latin1').decode(body)).toContain('Le thé vert')
  })
})
