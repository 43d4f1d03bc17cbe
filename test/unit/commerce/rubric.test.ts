import { describe, expect, it } from 'vitest'
import { DIMENSIONS, TestReport } from '../../../schemas/commerce.ts'
import { scoreDimensions, totalOf } from '../../../src/commerce/rubric/engine.ts'
import { PROTOCOLS } from '../../../src/commerce/protocols.ts'
import { FRAGMENTS, fragmentOf } from '../../../src/commerce/rubric/fragments/index.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { BENIGN } from '../../data/commerce/benign/index.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { type Variant, VARIANTS } from '../../data/commerce/variants.ts'
import { change, membersOf, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const reports = new Map(
  Object.entries(SAMPLES).map(([name, sample]) => [name, testTransaction(wire(sample))]),
)
const scoresOf = ({ dimensions }: TestReport) =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, dimensions[name].score]))

describe('sound transactions', () => {
  it.each<[string, number, TestReport['level']]>([
    ['x402-http', 100, 'ready'],
    ['x402-get', 98, 'ready'],
    ['x402-permit2', 98, 'ready'],
    ['x402-mcp', 98, 'ready'],
    ['x402-a2a', 98, 'ready'],
    ['x402-challenge', 100, 'ready'],
    ['x402-bare', 63, 'at_risk'],
    ['x402-v1', 44, 'not_ready'],
    ['mpp-post', 100, 'ready'],
    ['mpp-get', 100, 'ready'],
    ['mpp-jsonrpc', 84, 'gaps'],
    ['ap2-payment', 97, 'ready'],
    ['ap2-checkout', 100, 'ready'],
    ['ap2-v01-payment', 73, 'at_risk'],
    ['ap2-v01-intent', 27, 'not_ready'],
    ['ucp-complete', 100, 'ready'],
    ['ucp-create', 84, 'gaps'],
    ['ucp-mcp', 82, 'gaps'],
    ['acp-create', 98, 'ready'],
    ['acp-complete', 98, 'ready'],
    ['acp-delegate', 98, 'ready'],
    ['acp-mcp', 94, 'ready'],
    ['mcp-2026', 77, 'gaps'],
    ['mcp-2025', 22, 'not_ready'],
    ['x402-settlement', 100, 'ready'],
    ['x402-solana', 74, 'at_risk'],
    ['mpp-challenge', 100, 'ready'],
    ['mpp-receipt', 100, 'ready'],
    ['ucp-get', 100, 'ready'],
    ['ucp-ap2', 60, 'at_risk'],
    ['acp-get', 98, 'ready'],
    ['acp-webhook', 100, 'ready'],
  ])('%s scores %i: %s', (name, score, level) => {
    const report = reports.get(name)!
    expect(report).toMatchObject({ score, level, applicable: true, caps: [] })
    expect(TestReport.parse(report)).toEqual(report)
  })

  it('are all of the fixtures', () => {
    expect(reports.size).toBe(32)
  })
})

describe('weakened variants', () => {
  it('are many, of every protocol', () => {
    expect(VARIANTS.length).toBeGreaterThanOrEqual(60)
    expect(new Set(VARIANTS.map(({ id }) => id)).size).toBe(VARIANTS.length)
  })

  it.each<[string, Variant]>(
    VARIANTS.map((variant) => [`${variant.id} (${variant.base}: ${variant.why})`, variant]),
  )('%s loses what it must and nothing else', (_, { base, changes, mustDrop, mayDrop = [], cap }) => {
    const before = scoresOf(reports.get(base)!)
    const report = testTransaction(wire(change(SAMPLES[base]!, changes)))
    const after = scoresOf(report)
    const dropped = DIMENSIONS.filter((name) => after[name]! < before[name]!)
    expect(DIMENSIONS.filter((name) => after[name]! > before[name]!)).toEqual([])
    expect(dropped.filter((name) => ![...mustDrop, ...mayDrop].includes(name))).toEqual([])
    expect(mustDrop.filter((name) => !dropped.includes(name))).toEqual([])
    expect(report.caps.map(({ id, max }) => ({ id, max }))).toEqual(cap ? expect.arrayContaining([cap]) : [])
    expect(report.score).toBeLessThan(reports.get(base)!.score)
    if (cap) expect(report.score).toBeLessThanOrEqual(cap.max)
  })
})

/** RFC 9421: no protocol here demands them, so that no sample has them. */
const SIGNATURE_FIELDS = ['Signature-Input', 'Signature']

/** Members of a fragment in JSON, or the names of its header fields. */
function namesIn(fragment: string): string[] {
  if (fragment.startsWith('{')) {
    const names: string[] = []
    JSON.parse(fragment, (name, value: unknown) => {
      // A name that begins with a domain of one's own is known by its end.
      if (name !== '' && !/^\d+$/.test(name)) names.push(name.replace(/^<.*>/, ''))
      return value
    })
    return names
  }
  return fragment.split('\n').flatMap((line) => /^([\w-]+): /.exec(line)?.[1] ?? [])
}

describe('a report', () => {
  it('is the same bytes every time', () => {
    for (const [name, sample] of Object.entries(SAMPLES))
      for (let times = 0; times < 3; times++)
        expect(JSON.stringify(testTransaction(wire(sample)))).toBe(JSON.stringify(reports.get(name)))
  })

  it('says the hash of everything else in it', () => {
    for (const { report_hash: reportHash, ...rest } of reports.values())
      expect(hash('sha256', toCanonicalJson(rest))).toBe(reportHash)
  })

  it('adds up from the checks it lists', () => {
    for (const { checks, dimensions, score } of reports.values()) {
      expect(scoreDimensions(checks)).toEqual(dimensions)
      expect(totalOf(scoreDimensions(checks))).toBe(score)
    }
  })

  it('gives every lost point a finding and a remediation, and every found one neither', () => {
    for (const report of reports.values())
      for (const { id, result, finding, remediation, fragment, points, max } of report.checks) {
        const isLost = result === 'fail' || result === 'partial'
        expect([id, finding !== null, remediation !== null, fragment !== null]).toEqual([
          id,
          isLost,
          isLost,
          isLost,
        ])
        expect(points === max).toBe(result === 'pass')
      }
  })

  it('shows for every remediation how that is written, and for nothing that is no check', () => {
    const ids = PROTOCOLS.flatMap(({ score }) => score.rubrics).flatMap(({ checks }) =>
      checks.map(({ id }) => id),
    )
    expect(ids.filter((id) => fragmentOf(id) === null)).toEqual([])
    expect([...FRAGMENTS.keys()].filter((id) => !ids.includes(id))).toEqual([])
    for (const [id, fragment] of FRAGMENTS) {
      expect([id, fragment.length > 0 && fragment.length <= 600]).toEqual([id, true])
      if (fragment.startsWith('{')) expect(() => JSON.parse(fragment) as unknown).not.toThrow()
    }
  })

  it('writes that with members and fields of the header that sound transactions have', () => {
    const sources = [...Object.values(SAMPLES), ...BENIGN.map(({ source }) => source)]
    const known = JSON.stringify([sources, SIGNATURE_FIELDS]).toLowerCase()
    const unheardOf = [...FRAGMENTS].flatMap(([id, fragment]) =>
      namesIn(fragment)
        .filter((name) => !known.includes(`${name.toLowerCase()}"`))
        .map((name) => `${id}: ${name}`),
    )
    expect(unheardOf).toEqual([])
  })

  it('never shows a value of the sample: signatures, proofs, tokens, keys', () => {
    for (const [name, sample] of Object.entries(SAMPLES)) {
      const text = JSON.stringify(testTransaction(wire(sample)))
      for (const word of [
        'spt_made_up',
        'made-up-access-token',
        '5e71c0a49b3fd286',
        'a3f0915cd7e4286b',
        'order-4c5e91',
        '0b6f4c5e-91d3',
      ])
        expect(text.includes(word), `${name} shows ${word}`).toBe(false)
    }
  })

  it('does not know a transaction that belongs to no protocol', () => {
    const report = testTransaction({ target: 'https://shop.example/', method: 'GET' })
    expect(report).toMatchObject({
      protocol: 'unknown',
      applicable: false,
      score: 0,
      checks: [],
      level: 'not_ready',
    })
    expect(Object.values(report.dimensions).every(({ applicable }) => !applicable)).toBe(true)
  })

  it('scores nothing of what is no transaction', () => {
    const profile = { ucp: { version: '2026-08-25', services: {}, capabilities: {} }, keys: [] }
    const report = testTransaction({
      target: 'https://shop.example/.well-known/ucp',
      method: 'GET',
      body: profile,
    })
    expect(report).toMatchObject({ protocol: 'ucp', applicable: false, score: 0, checks: [] })
    expect(report.notes.map(({ id }) => id)).toEqual(['NO_TRANSACTION'])
  })

  it('says nothing else of what cannot be decoded', () => {
    const { caps, score } = testTransaction({
      target: 'https://shop.example/',
      headers: { 'PAYMENT-SIGNATURE': 'e30x' },
    })
    expect(caps.map(({ id }) => id)).toEqual(['UNDECODABLE'])
    expect(score).toBeLessThanOrEqual(20)
  })

  it('scores 40 at most where inspection denies it for what it is, and says why', () => {
    const address = testTransaction({
      ...wire(SAMPLES['x402-get']!),
      target: 'https://127.0.0.1/reports?year=2026',
    })
    expect(address.score).toBeLessThanOrEqual(40)
    const token = testTransaction(
      wire(
        change(SAMPLES['acp-create']!, [{ op: 'set', at: '/body/note', value: `ghp_${'1aB9'.repeat(9)}` }]),
      ),
    )
    expect(token).toMatchObject({ score: 40, caps: [{ id: 'DENIED', max: 40, at: '/body/note' }] })
  })

  it('scores 60 at most where one way to pay among several loses the money', () => {
    const lost = {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '25000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: `0x${'0'.repeat(40)}`,
    }
    const two = change(SAMPLES['x402-challenge']!, [
      { op: 'set', at: '/headers/PAYMENT-REQUIRED/$base64/accepts/1', value: lost },
    ])
    expect(testTransaction(wire(two))).toMatchObject({ score: 60, caps: [{ id: 'DOUBTFUL' }] })
  })

  it.each([
    [
      'x402 that says its version as a text',
      'x402-http',
      '/headers/PAYMENT-SIGNATURE/$base64/x402Version',
      '2',
    ],
    ['x402 of a version to come', 'x402-http', '/headers/PAYMENT-SIGNATURE/$base64/x402Version', 3],
    [
      'a mandate of no known type',
      'ap2-payment',
      '/body/payment_mandate_chain/$chain/mandate/vct',
      'mandate.gift.1',
    ],
  ])('scores 60 at most where nobody defines what it is: %s', (_, name, at, value) => {
    const odd = testTransaction(wire(change(SAMPLES[name]!, [{ op: 'set', at, value }])))
    expect(odd.score).toBeLessThanOrEqual(60)
    expect(odd.caps).toContainEqual(
      expect.objectContaining({ id: 'DOUBTFUL', max: 60, message: expect.stringMatching(/known|define/) }),
    )
  })

  it('scores 40 at most where a window ends before it begins, in whatever time', () => {
    const AUTHORIZATION = '/headers/PAYMENT-SIGNATURE/$base64/payload/authorization'
    const ending = (validBefore: string) =>
      testTransaction(
        wire(
          change(SAMPLES['x402-http']!, [
            { op: 'set', at: `${AUTHORIZATION}/validAfter`, value: '4000000000' },
            { op: 'set', at: `${AUTHORIZATION}/validBefore`, value: validBefore },
          ]),
        ),
      ).caps.map(({ id }) => id)
    expect(ending('3999999999')).toEqual(['NEVER_VALID'])
    expect(ending('4000000000')).toEqual(['NEVER_VALID'])
    expect(ending('4000000001')).toEqual([])
  })

  it('asks for the key that ACP demands of an operation, whichever method it comes by', () => {
    const capsOf = (name: string, method: string) =>
      testTransaction(
        wire(
          change(SAMPLES[name]!, [
            { op: 'remove', at: '/headers/Idempotency-Key' },
            { op: 'set', at: '/method', value: method },
          ]),
        ),
      ).caps.map(({ id }) => id)
    for (const method of ['POST', 'PUT', 'PATCH'])
      expect([method, capsOf('acp-complete', method)]).toEqual([method, ['DENIED', 'NO_KEY']])
    const cart = KINDS['ACP cart that is replaced']!.source
    expect(testTransaction(wire(cart)).caps).toEqual([])
  })

  it('is the same under every policy and at every time', () => {
    // None of these networks and schemes is allowed by the policy that holds where nobody wrote one.
    const other = testTransaction(
      wire(
        change(SAMPLES['x402-get']!, [
          { op: 'set', at: '/headers/PAYMENT-SIGNATURE/$base64/accepted/network', value: 'eip155:7777' },
        ]),
      ),
    )
    expect(other).toMatchObject({ caps: [], level: 'ready' })
  })

  it('blames the protocol where it has no field, and says what the best sample could get', () => {
    const { checks, notes } = reports.get('mcp-2025')!
    expect(checks.find(({ id }) => id === 'MCP-IDEM-01')).toMatchObject({
      result: 'fail',
      protocol_limit: true,
    })
    expect(notes.find(({ id }) => id === 'PROTOCOL_LIMIT')!.message).toMatch(/can score more than 43 without/)
    expect(reports.get('x402-bare')!.checks.filter((check) => check.protocol_limit)).toEqual([])
  })

  it('gives the points of a key to an MCP tool that is declared safe to repeat', () => {
    const sample = wire(SAMPLES['mcp-2025']!)
    const plain = testTransaction(sample)
    const declared = testTransaction(sample, { annotations: { idempotentHint: true } })
    expect(plain.dimensions.idempotency.score).toBe(0)
    expect(declared.dimensions.idempotency.score).toBe(100)
    expect(testTransaction(sample, { annotations: { idempotentHint: false } })).toEqual(plain)
  })

  it('gives half for the ellipsis of an example, and says so', () => {
    const sample = change(SAMPLES['acp-create']!, [
      { op: 'set', at: '/headers/Signature', value: 'ZXltZX...' },
    ])
    const { checks, notes } = testTransaction(wire(sample))
    expect(checks.find(({ id }) => id === 'ACP-BIND-03')).toMatchObject({
      points: 3,
      max: 6,
      result: 'partial',
    })
    expect(notes.filter(({ id }) => id === 'PLACEHOLDER').map(({ at }) => at)).toContain('/headers/Signature')
  })
})

describe('evaluate_at', () => {
  const sample = wire(SAMPLES['x402-http']!)
  const at = (seconds: number) => testTransaction(sample, { evaluateAt: seconds * 1000 })

  it('changes nothing inside the window but its echo', () => {
    const report = at(1790000060)
    expect(report).toMatchObject({ score: 100, evaluate_at: '2026-09-21T14:14:20.000Z' })
    expect(reports.get('x402-http')!.evaluate_at).toBeNull()
  })

  it.each<[string, number, string]>([
    ['at its end', 1790000120, 'EXPIRED'],
    ['before its beginning', 1789999999, 'NOT_YET_VALID'],
  ])('takes the points of the window %s, and says why', (_, seconds, note) => {
    const report = at(seconds)
    expect(report.notes.map(({ id }) => id)).toContain(note)
    expect(report.dimensions.freshness.score).toBeLessThan(100)
    expect(report.checks.find(({ id }) => id === 'X402-FRESH-01')).toMatchObject({ points: 0 })
  })

  it('asks MPP for an end within the hour', () => {
    const mpp = wire(SAMPLES['mpp-get']!)
    const score = (time: string) =>
      testTransaction(mpp, { evaluateAt: Date.parse(time) }).checks.find(({ id }) => id === 'MPP-FRESH-03')!
    expect(score('2026-09-21T13:05:00Z')).toMatchObject({ result: 'pass' })
    expect(score('2026-09-21T13:04:59Z')).toMatchObject({ result: 'fail' })
    expect(score('2026-09-21T14:05:00Z')).toMatchObject({ result: 'fail' })
    expect(testTransaction(mpp).checks.find(({ id }) => id === 'MPP-FRESH-03')!.result).toBe('not_applicable')
  })
})

describe('properties', () => {
  const places = Object.entries(SAMPLES).flatMap(([name, sample]) =>
    [...membersOf(sample as unknown as Plain)].map((at): [string, string] => [name, at]),
  )

  it('removing a member never raises a score', () => {
    const raised: string[] = []
    for (const [name, at] of places) {
      if (at === '/target' || at === '/headers' || at === '/body' || at === '/method') continue
      const report = testTransaction(wire(change(SAMPLES[name]!, [{ op: 'remove', at }])))
      if (report.score > reports.get(name)!.score) raised.push(`${name} ${at}`)
    }
    expect(places.length).toBeGreaterThan(400)
    expect(raised).toEqual([])
  })

  const shuffle = (value: Plain, seed: number): Plain => {
    if (Array.isArray(value)) return value.map((inner) => shuffle(inner, seed))
    if (typeof value !== 'object' || value === null) return value
    const names = Object.keys(value)
    const order = seed % 2 === 0 ? names.toReversed() : names.toSorted()
    return Object.fromEntries(order.map((name) => [name, shuffle(value[name]!, seed)]))
  }
  const withoutPlaces = ({ checks, ...report }: TestReport) => ({
    checks: checks.map(({ evidence: _evidence, ...check }) => check),
    score: report.score,
    dimensions: report.dimensions,
  })

  it.each([0, 1])('the order of members never changes a byte (%i)', (seed) => {
    for (const [name, sample] of Object.entries(SAMPLES)) {
      // A raw body in another order is another body.
      if (JSON.stringify(sample).includes('$text')) continue
      // Tokens are signed as they are.
      if (JSON.stringify(sample).includes('$chain')) continue
      const report = testTransaction(
        wire(shuffle(sample as unknown as Plain, seed) as unknown as SampleSource),
      )
      expect([name, report.checks, report.score]).toEqual([
        name,
        reports.get(name)!.checks,
        reports.get(name)!.score,
      ])
    }
  })

  it.each<[string, (name: string, value: string) => [string, string]]>([
    ['in lower case', (name, value) => [name.toLowerCase(), value]],
    ['in upper case', (name, value) => [name.toUpperCase(), value]],
    ['with space around', (name, value) => [name, `  ${value}\t`]],
  ])('headers %s change nothing but where they are found', (_, rewrite) => {
    for (const [name, sample] of Object.entries(SAMPLES)) {
      const { headers, ...rest } = wire(sample)
      const changed = Object.fromEntries(
        Object.entries(headers ?? {}).map(([key, value]) => rewrite(key, value as string)),
      )
      const report = testTransaction({ ...rest, headers: changed })
      expect([name, withoutPlaces(report)]).toEqual([name, withoutPlaces(reports.get(name)!)])
    }
  })

  it('a body as text or as JSON scores the same where nothing is said of its bytes', () => {
    for (const name of [
      'x402-mcp',
      'x402-a2a',
      'mpp-jsonrpc',
      'ap2-v01-intent',
      'ucp-mcp',
      'acp-mcp',
      'mcp-2026',
    ]) {
      const sample = wire(SAMPLES[name]!)
      const report = testTransaction({ ...sample, body: JSON.stringify(sample.body) })
      expect([name, withoutPlaces(report)]).toEqual([name, withoutPlaces(reports.get(name)!)])
    }
  })

  it('a report never shows a value that was planted in a sample', () => {
    const shown: string[] = []
    for (const [name, at] of places) {
      if (at === '/target' || at === '/headers') continue
      const planted = wire(change(SAMPLES[name]!, [{ op: 'set', at, value: 'Canary0123456789abcdef' }]))
      if (JSON.stringify(testTransaction(planted)).includes('Canary')) shown.push(`${name} ${at}`)
    }
    expect(shown).toEqual([])
  })
})
