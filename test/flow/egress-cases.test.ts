// The collected cases of test/data/egress-cases.tsv against the running server: what a caller can write, sent as a caller
// would send it. (test/unit/egress/corpus.test.ts holds the classifier and the rules to the same file.)
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const rows = readFileSync(new URL('../data/egress-cases.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [verdict = '', layer = '', json = ''] = line.split('\t')
    return { verdict, layer, value: JSON.parse(json) as string }
  })
const casesOf = (layer: string) => rows.filter((row) => row.layer === layer)

const HOST = 'api.example.com'
const REFUSED = ['target_invalid', 'target_blocked', 'scope_denied', 'header_forbidden']
const REFUSED_STATUS = [400, 403]

describe('collected cases against the running server', () => {
  let gw: TestGateway
  let whole: string
  let charges: string
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '100000' } })
    const scope = (prefix: string) => ({ hosts: [HOST], path_prefixes: [prefix], methods: ['GET'] })
    ;({ capability: whole } = await gw.grant({ credential: scope('/v1') }))
    ;({ capability: charges } = await gw.grant({ credential: scope('/v1/charges') }))
  })
  afterAll(() => gw.close())

  async function send(capability: string, request: Record<string, unknown>) {
    const [sent, asked, balance] = [gw.upstream.requests.length, gw.dns.queries.length, await gw.balance()]
    const answer = await gw.fetch(capability, { method: 'GET', ...request })
    return {
      answer,
      reached: gw.upstream.requests.length - sent,
      lookups: gw.dns.queries.length - asked,
      charged: balance - (await gw.balance()),
    }
  }
  type Sent = Awaited<ReturnType<typeof send>>

  /** Nothing was looked up, nothing sent, nothing charged, and the answer says which rule refused. */
  function expectRefused({ answer, reached, lookups, charged }: Sent) {
    expect(REFUSED_STATUS, answer.text).toContain(answer.status)
    expect([...REFUSED, 'input_invalid', 'input_wrong_type'], answer.text).toContain(answer.body.code)
    expect({ reached, lookups, charged }).toEqual({ reached: 0, lookups: 0, charged: 0 })
  }

  it.each(casesOf('url').filter(({ verdict }) => verdict === 'DENY'))(
    'refuses the url $value',
    async ({ value }) => expectRefused(await send(whole, { url: value })),
  )

  it('allows the one url that is within the scope', async () => {
    const allowed = casesOf('url').filter(({ verdict }) => verdict === 'ALLOW')
    expect(allowed.map(({ value }) => value)).toEqual([`https://${HOST}/v1`])
    expect(await send(whole, { url: gw.url('/v1') })).toMatchObject({
      answer: { status: 200 },
      reached: 1,
      charged: 1,
    })
  })

  it.each(casesOf('url-public'))(
    'refuses the public url $value that the capability does not name',
    async ({ value }) => {
      const sent = await send(whole, { url: value })
      expectRefused(sent)
    },
  )

  it.each(casesOf('path').filter(({ verdict }) => verdict === 'DENY'))(
    'refuses the path $value',
    async ({ value }) =>
      expectRefused(await send(charges, { url: value.startsWith('/') ? gw.url(value) : value })),
  )

  it.each(casesOf('path').filter(({ verdict }) => verdict === 'ALLOW'))(
    'allows the path $value',
    async ({ value }) => {
      const sent = await send(charges, { url: gw.url(value) })
      expect(sent).toMatchObject({ answer: { status: 200 }, reached: 1, charged: 1 })
      expect(gw.upstream.requests.at(-1)!.target).toBe(value)
    },
  )

  const asHeader = (value: string): Record<string, string> => {
    const colon = value.indexOf(':')
    return { [value.slice(0, colon)]: value.slice(colon + 1).replace(/^ /, '') }
  }

  it.each(casesOf('header').filter(({ verdict }) => verdict === 'DENY'))(
    'refuses the header $value by name',
    async ({ value }) => expectRefused(await send(whole, { url: gw.url('/v1'), headers: asHeader(value) })),
  )

  it.each(casesOf('header').filter(({ verdict }) => verdict === 'ALLOW'))(
    'passes the header $value on',
    async ({ value }) => {
      const [[name, text]] = Object.entries(asHeader(value)) as [[string, string]]
      const sent = await send(whole, { url: gw.url('/v1'), headers: { [name]: text } })
      expect(sent).toMatchObject({ answer: { status: 200 }, reached: 1 })
      expect(gw.upstream.requests.at(-1)!.headers).toContainEqual([name, text])
    },
  )
})
