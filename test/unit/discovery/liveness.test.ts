import { describe, expect, it } from 'vitest'
import type { Liveness } from '../../../schemas/discovery.ts'
import { type Entry, readEntry } from '../../../src/discovery/entry.ts'
import { canBeProbed, notProbed, probe } from '../../../src/discovery/liveness.ts'
import type { OutboundGet, OutboundResult } from '../../../src/discovery/outbound.ts'
import { createProber, type ProbeTarget, readLiveness } from '../../../src/discovery/prober.ts'
import { acceptV1, acceptV2, itemOf, PAYEE } from '../../support/catalogue.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const entryOf = (over: Record<string, unknown> = {}): Entry => {
  const verdict = readEntry(itemOf(over), NOW)
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict.entry
}
const withMethod = (method: string) => ({ extensions: { bazaar: { info: { input: { method } } } } })

const answer = (status: number, body: unknown = {}, required?: unknown): OutboundResult => ({
  ok: true,
  response: {
    status,
    statusText: '',
    headers:
      required === undefined
        ? []
        : [{ name: 'payment-required', value: Buffer.from(JSON.stringify(required)).toString('base64') }],
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  },
})
const v2 = (...accepts: unknown[]) => ({ x402Version: 2, resource: { url: 'x' }, accepts })
const v1 = (...accepts: unknown[]) => ({ x402Version: 1, accepts })

const probeWith = (result: OutboundResult, entry = entryOf(), asked: OutboundGet[] = []) =>
  probe(
    entry,
    { outbound: { get: async (request) => (asked.push(request), result) }, now: () => NOW },
    new AbortController().signal,
  )

describe('a probe of a resource', () => {
  it.each<[string, OutboundResult, Liveness['state'], string]>([
    ['a 402 for what is listed', answer(402, {}, v2(acceptV2())), 'alive', 'asks_as_listed'],
    ['a 402 of v1 for what is listed', answer(402, v1(acceptV1())), 'alive', 'asks_as_listed'],
    [
      'addresses in another case',
      answer(402, {}, v2(acceptV2({ asset: acceptV2().asset.toUpperCase().replace('0X', '0x') }))),
      'alive',
      'asks_as_listed',
    ],
    [
      'one of several ways to pay',
      answer(402, {}, v2({}, acceptV2({ network: 'solana:x' }), acceptV2())),
      'alive',
      'asks_as_listed',
    ],
    ['another price', answer(402, {}, v2(acceptV2({ amount: '2000' }))), 'changed', 'other_terms'],
    ['another payee', answer(402, {}, v2(acceptV2({ payTo: '0xother' }))), 'changed', 'other_terms'],
    ['no price at all', answer(200), 'changed', 'not_paid'],
    ['a 402 without requirements', answer(402, 'pay me'), 'dead', 'requirements_invalid'],
    [
      'a 402 with a header of garbage',
      answer(402, v1(acceptV1()), 'garbage'),
      'dead',
      'requirements_invalid',
    ],
    ['nothing there', answer(404), 'dead', 'status_404'],
    ['gone', answer(410), 'dead', 'status_410'],
    ['a failure', answer(503), 'dead', 'status_503'],
    ['a redirect', answer(302), 'unknown', 'status_302'],
    ['a demand for a token first', answer(401), 'unknown', 'status_401'],
    ['another method', answer(405), 'unknown', 'status_405'],
    ['too many requests', answer(429), 'unknown', 'status_429'],
    ['nobody', { ok: false, reason: 'unreachable' }, 'dead', 'unreachable'],
    ['no name', { ok: false, reason: 'name_unresolved' }, 'dead', 'name_unresolved'],
    ['silence', { ok: false, reason: 'timeout' }, 'dead', 'timeout'],
    ['a private address', { ok: false, reason: 'not_public' }, 'unknown', 'not_public'],
    ['a host that the operator denies', { ok: false, reason: 'denied' }, 'unknown', 'denied'],
  ])('that meets %s', async (_, result, state, detail) => {
    expect(await probeWith(result)).toMatchObject({ state, detail, checked_at: '2026-11-21T12:00:00.000Z' })
  })

  it('says what is asked for instead', async () => {
    const accepts = Array.from({ length: 9 }, (_, i) => acceptV2({ amount: String(2000 + i) }))
    const { observed } = await probeWith(answer(402, {}, v2(...accepts)))
    expect(observed).toHaveLength(5)
    expect(observed![0]).toMatchObject({ amount: '2000', network: 'eip155:8453' })
  })

  it('says whom it was asked to pay, each once, whether or not that is who is listed', async () => {
    const payees = [{ network: 'eip155:8453', payTo: PAYEE }]
    expect((await probeWith(answer(402, {}, v2(acceptV2(), acceptV2({ amount: '2' }))))).payees).toEqual(
      payees,
    )
    const elsewhere = v2(acceptV2({ payTo: '0xOther' }))
    expect(await probeWith(answer(402, {}, elsewhere))).toMatchObject({
      state: 'changed',
      payees: [{ network: 'eip155:8453', payTo: '0xOther' }],
    })
    expect(await probeWith(answer(200))).not.toHaveProperty('payees')
  })

  it('asks one of the resources that a template stands for', async () => {
    const asked: OutboundGet[] = []
    await probeWith(answer(402), { ...entryOf(), probeUrl: 'https://api.example.com/users/7' }, asked)
    expect(asked).toMatchObject([{ url: 'https://api.example.com/users/7' }])
  })

  it('is one bounded GET without a payment', async () => {
    const asked: OutboundGet[] = []
    await probeWith(answer(200), entryOf(), asked)
    await probeWith(answer(200), entryOf(withMethod('HEAD')), asked)
    expect(asked).toMatchObject([
      { url: 'https://api.example.com/weather', method: 'GET', timeoutMs: 5000, maxBytes: 65536 },
      { method: 'HEAD' },
    ])
    expect(asked[0]).not.toHaveProperty('isConfigured')
  })

  it('is not taken where it would take more than a GET', () => {
    expect(
      ['GET', 'HEAD', 'POST', 'DELETE'].map((method) => canBeProbed(entryOf(withMethod(method)))),
    ).toEqual([true, true, false, false])
    expect(canBeProbed(entryOf({ type: 'mcp' }))).toBe(false)
    expect(notProbed(entryOf(withMethod('POST')))).toEqual({
      state: 'unknown',
      checked_at: null,
      detail: 'method_not_probed',
    })
  })
})

describe('looks at many', () => {
  const targetOf = (url: string, over: Partial<ProbeTarget> = {}): ProbeTarget => {
    const entry = entryOf({ resource: url })
    return { entry, isOwn: false, lastProbe: { found: notProbed(entry) }, ...over }
  }

  function setUp() {
    const clock = { now: NOW }
    const gate = Promise.withResolvers<void>()
    const probed: string[] = []
    const recorded: string[] = []
    const errors: unknown[] = []
    const prober = createProber({
      probe: async ({ resource }) => {
        probed.push(resource)
        await gate.promise
        return { state: 'alive', checked_at: new Date(clock.now).toISOString(), detail: 'x' }
      },
      record: async (_id, liveness) => {
        if (liveness.includes('fail')) throw new Error('store')
        recorded.push(liveness)
      },
      now: () => clock.now,
      onError: (thrown) => errors.push(thrown),
    })
    return { prober, probed, recorded, clock, gate }
  }

  it('are few at a time, one for each host, and not ours', async () => {
    const { prober, probed, gate } = setUp()
    const shown = [
      targetOf('https://a.example.com/1'),
      targetOf('https://a.example.com/2'),
      targetOf('https://own.example.com/', { isOwn: true }),
      ...Array.from({ length: 30 }, (_, i) => targetOf(`https://h${i}.example.com/`)),
    ]
    prober.begin(shown)
    expect(probed).toHaveLength(8)
    expect(probed).not.toContain('https://a.example.com/2')
    prober.begin(shown)
    prober.begin(shown)
    expect(probed).toHaveLength(16)
    expect(probed).not.toContain('https://own.example.com/')
    gate.resolve()
    await prober.settled()
    expect(shown.filter(({ lastProbe: { found } }) => found.state === 'alive')).toHaveLength(16)
  })

  it('are not repeated within the hour', async () => {
    const { prober, probed, recorded, clock, gate } = setUp()
    gate.resolve()
    const shown = [targetOf('https://a.example.com/1')]
    for (const wait of [0, 3_599_999, 1]) {
      clock.now += wait
      prober.begin(shown)
      await prober.settled()
    }
    expect(probed).toHaveLength(2)
    expect(recorded).toHaveLength(2)
  })

  it('are read back as they were stored', () => {
    const entry = entryOf()
    const liveness: Liveness = { state: 'alive', checked_at: '2026-11-21T12:00:00.000Z', detail: 'x' }
    expect(readLiveness(JSON.stringify(liveness), entry)).toEqual(liveness)
    expect(readLiveness(null, entry)).toEqual(notProbed(entry))
  })
})
