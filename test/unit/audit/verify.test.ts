import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AuditFault, verifyExport, verifyHead } from '../../../src/audit/verify.ts'
import { digestCanonical } from '../../../src/lib/canonical-json.ts'
import { createPortableSign, type OkpKey } from '../../../src/receipts/ed25519.ts'
import { encode } from '../../../src/receipts/key-ring.ts'
import { JWS_TYPES, type KeyDocument } from '../../../src/receipts/types.ts'

const CHAIN = 'acct_1'
const EVENTS = 6

function newKey(kid: string) {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as OkpKey
  const sign = createPortableSign(jwk)
  return {
    published: { kty: 'OKP', crv: 'Ed25519', x: jwk.x, kid, use: 'sig' },
    head(seq: number, hash: string, more: { chain?: string; typ?: string; iat?: number } = {}) {
      const head = encode({ alg: 'EdDSA', kid, typ: more.typ ?? JWS_TYPES.auditHead })
      const signed = `${head}.${encode({ iss: 'https://gw', iat: more.iat ?? 1_700_000_000, chain: more.chain ?? CHAIN, seq, hash })}`
      return `${signed}.${sign(signed)}`
    },
  }
}
type Event = Record<string, unknown> & { hash: string; seq: number }

/** Events that follow each other from `prev` on. */
function follow(count: number, start = 1, prev: string | null = null, chain = CHAIN): Event[] {
  const events: Event[] = []
  for (let seq = start; seq < start + count; seq++) {
    const body = {
      v: 1,
      chain,
      seq,
      at: '2026-06-01T00:00:00.000Z',
      event: 'key.created',
      prev,
      detail: { seq },
    }
    const hash = digestCanonical(body)
    events.push({ ...body, hash })
    prev = hash
  }
  return events
}

const key = newKey('k1')
const keys: KeyDocument = { keys: [key.published] }
const events = follow(EVENTS)
const hashOf = (seq: number) => events[seq - 1]?.hash ?? ''
const opening = (after = 0) => ({ type: 'export', v: 1, gateway: 'https://gw', chain: CHAIN, after })
const head = (jws: string) => ({ type: 'head', jws })
const whole = (): Record<string, unknown>[] => [
  opening(),
  ...events.map((event) => ({ type: 'event', event })),
  head(key.head(3, hashOf(3))),
  head(key.head(EVENTS, hashOf(EVENTS))),
]
const toText = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** The event lines are those from 1 to EVENTS; the heads come behind them. */
type Tamper = (lines: Record<string, unknown>[]) => unknown[]
const without =
  (...indices: number[]): Tamper =>
  (lines) =>
    lines.filter((_, i) => !indices.includes(i))
const change =
  (index: number, more: Record<string, unknown>, rehash = false): Tamper =>
  (lines) =>
    lines.map((line, i) => {
      if (i !== index) return line
      const { hash, ...body } = { ...(line['event'] as Event), ...more }
      return { type: 'event', event: { ...body, hash: rehash ? digestCanonical(body) : hash } }
    })

describe('an export of the audit log', () => {
  it('verifies with the published keys alone', async () => {
    expect(await verifyExport(toText(whole()), keys)).toEqual({
      ok: true,
      chain: CHAIN,
      events: EVENTS,
      after: 0,
      isBeginningWitnessed: true,
      seq: EVENTS,
      hash: hashOf(EVENTS),
      kid: 'k1',
      signedAt: 1_700_000_000,
      heads: 2,
      ignoredHeads: 0,
    })
  })

  it.each<[string, Tamper, AuditFault]>([
    ['an event was changed', change(2, { event: 'key.revoked' }), 'event_changed'],
    ['an actor was added to an event', change(2, { actor: { kind: 'gateway' } }), 'event_changed'],
    ['an event was changed and hashed anew', change(2, { event: 'x' }, true), 'event_changed'],
    ['the last event was changed and hashed anew', change(EVENTS, { event: 'x' }, true), 'head_mismatch'],
    ['an event in the middle was removed', without(3), 'event_missing'],
    ['the first event was removed', without(1), 'beginning_missing'],
    ['the last event was removed', without(EVENTS), 'end_missing'],
    ['the last event and its head were removed', without(EVENTS, EVENTS + 2), 'end_unsigned'],
    ['every head was removed', without(EVENTS + 1, EVENTS + 2), 'end_unsigned'],
    ['everything but the first line was removed', (lines) => lines.slice(0, 1), 'end_unsigned'],
    [
      'two events changed places',
      (lines) => lines.map((line, i) => (i === 2 ? lines[3] : i === 3 ? lines[2] : line)),
      'event_missing',
    ],
    ['an event is there twice', (lines) => [...lines.slice(0, 3), ...lines.slice(2)], 'event_out_of_order'],
    ['an event is of another account', change(1, { chain: 'acct_2' }, true), 'event_of_another_chain'],
    [
      'all of it was written anew',
      (lines) => [
        opening(),
        ...follow(EVENTS)
          .map((event) => ({ ...event, hash: undefined, event: 'other' }))
          .reduce<unknown[]>((made, body) => {
            const prev = (made.at(-1) as { event: Event } | undefined)?.event.hash ?? null
            const { hash: _hash, ...rest } = { ...body, prev }
            return [...made, { type: 'event', event: { ...rest, hash: digestCanonical(rest) } }]
          }, []),
        ...lines.slice(-2),
      ],
      'head_mismatch',
    ],
    [
      'a head is of another account',
      (lines) => [...lines, head(key.head(2, hashOf(2), { chain: 'acct_2' }))],
      'head_mismatch',
    ],
    [
      'a head is signed by a stranger',
      (lines) => [...lines, head(newKey('k1').head(2, 'x'))],
      'head_invalid',
    ],
    [
      'a receipt stands in for a head',
      (lines) => [...lines, head(key.head(6, hashOf(6), { typ: JWS_TYPES.receipt }))],
      'head_invalid',
    ],
    ['a line is cut', (lines) => [...lines, { type: 'ev' }], 'line_malformed'],
    ['the first line is gone', without(0), 'not_an_export'],
    ['the first line says it begins later', (lines) => [opening(2), ...lines.slice(1)], 'event_out_of_order'],
  ])('does not verify where %s', async (_, tamper, fault) => {
    const verdict = await verifyExport(toText(tamper(whole())), keys)
    expect(verdict).toMatchObject({ ok: false, fault })
  })

  it.each<[string, string, string, AuditFault]>([
    [
      'a member of an event is there twice',
      '"event":"key.c',
      '"event":"nothing","event":"key.c',
      'line_malformed',
    ],
    [
      'a line says more than its event',
      '{"type":"event"',
      '{"note":"by Bob","type":"event"',
      'line_malformed',
    ],
    ['a line says more than its head', '{"type":"head"', '{"seq":9,"type":"head"', 'line_malformed'],
    ['a line is a head and an event', '"type":"head"', '"type":"head","event":{}', 'line_malformed'],
    ['a line is spaced out', '{"type":"event"', '{ "type":"event"', 'line_malformed'],
    ['a text is escaped', '"key.created"', '"key\\u002ecreated"', 'line_malformed'],
    ['the first line says more', '{"type":"export"', '{"by":"Bob","type":"export"', 'not_an_export'],
    ['the first line says its chain twice', '"chain"', '"chain":"acct_9","chain"', 'not_an_export'],
    ['the first line begins between two events', '"after":0', '"after":0.5', 'not_an_export'],
    ['the first line begins before the first event', '"after":0', '"after":-1', 'not_an_export'],
    ['the first line begins nowhere', '"after":0', '"after":"0"', 'not_an_export'],
  ])('does not verify where %s', async (_, written, changed, fault) => {
    const text = toText(whole())
    expect(text).toContain(written)
    expect(await verifyExport(text.replace(written, changed), keys)).toMatchObject({ ok: false, fault })
  })

  it('verifies with every text that an event can hold, as JSON writes it', async () => {
    const [first, ...rest] = follow(1).map(({ hash: _hash, ...event }) => ({
      ...event,
      detail: {
        text: '\u2028"\\\u0000é😀',
        list: ['a'],
        size: 1e21,
        part: 0.1,
        none: null,
        7: true,
        a: false,
      },
    }))
    expect(rest).toEqual([])
    const hash = digestCanonical(first)
    const text = toText([opening(), { type: 'event', event: { ...first, hash } }, head(key.head(1, hash))])
    expect(await verifyExport(text, keys)).toMatchObject({ ok: true, events: 1 })
  })

  it('shows by a witness that the end was cut off before the export was written', async () => {
    const cut = toText([opening(), ...whole().slice(1, 4), head(key.head(3, hashOf(3)))])
    expect(await verifyExport(cut, keys)).toMatchObject({ ok: true, seq: 3 })
    const witness = await verifyHead(key.head(5, hashOf(5)), keys)
    if (!witness.ok) throw new Error(witness.reason)
    expect(await verifyExport(cut, keys, [witness.place])).toMatchObject({
      ok: false,
      fault: 'end_missing',
      seq: 4,
    })
    expect(await verifyExport(toText(whole()), keys, [witness.place])).toMatchObject({ ok: true })
  })

  it('begins in the middle where a witness says what came before', async () => {
    const rest = [opening(3), ...whole().slice(4, EVENTS + 1), head(key.head(EVENTS, hashOf(EVENTS)))]
    const place = { chain: CHAIN, seq: 3, hash: hashOf(3), kid: 'k1', signedAt: 0 }
    expect(await verifyExport(toText(rest), keys, [place])).toMatchObject({
      ok: true,
      events: 3,
      seq: EVENTS,
    })
    expect(await verifyExport(toText(rest), keys, [{ ...place, hash: 'other' }])).toMatchObject({
      fault: 'event_changed',
    })
  })

  describe('that begins later than it was written to', () => {
    const placeAt = (seq: number) => ({ chain: CHAIN, seq, hash: hashOf(seq), kid: 'k1', signedAt: 0 })
    const behind = (after: number) =>
      toText([
        opening(after),
        ...whole().slice(after + 1, EVENTS + 1),
        head(key.head(EVENTS, hashOf(EVENTS))),
      ])

    it('does not verify where the witnesses end before it begins', async () => {
      expect(await verifyExport(behind(4), keys, [placeAt(1), placeAt(3)])).toMatchObject({
        ok: false,
        fault: 'beginning_missing',
        line: 1,
        seq: 4,
      })
      expect(await verifyExport(behind(3), keys, [placeAt(1), placeAt(3)])).toMatchObject({ ok: true })
    })

    it('says so where there is no witness, and counts only heads that it was held against', async () => {
      expect(await verifyExport(behind(4), keys)).toMatchObject({
        ok: true,
        after: 4,
        isBeginningWitnessed: false,
        heads: 1,
      })
      expect(await verifyExport(behind(4), keys, [placeAt(1), placeAt(4), placeAt(5)])).toMatchObject({
        after: 4,
        isBeginningWitnessed: true,
        heads: 3,
      })
    })

    it('verifies where a later witness covers what came before, whatever the earlier ones end with', async () => {
      for (const witnesses of [[placeAt(2), placeAt(5)], [placeAt(5), placeAt(1)], [placeAt(5)]])
        expect(await verifyExport(behind(3), keys, witnesses)).toMatchObject({
          ok: true,
          isBeginningWitnessed: true,
          heads: 2,
        })
      const other = { ...placeAt(5), hash: hashOf(4) }
      expect(await verifyExport(behind(3), keys, [placeAt(2), other])).toMatchObject({
        ok: false,
        fault: 'head_mismatch',
        seq: 5,
      })
    })

    it('does not verify by a later witness where the event that it begins with names another before it', async () => {
      const [, , , ...rest] = [...events.slice(0, 3), ...follow(EVENTS - 3, 4, hashOf(2))]
      const end = rest.at(-1)?.hash ?? ''
      const text = toText([
        opening(3),
        ...rest.map((event) => ({ type: 'event', event })),
        head(key.head(EVENTS, end)),
      ])
      expect(await verifyExport(text, keys)).toMatchObject({ ok: true, isBeginningWitnessed: false })
      expect(await verifyExport(text, keys, [placeAt(2), placeAt(5)])).toMatchObject({
        ok: false,
        fault: 'head_mismatch',
        seq: 5,
      })
    })

    it('does not verify where two witnesses say otherwise of the event before it', async () => {
      const other = { ...placeAt(4), hash: hashOf(3) }
      expect(await verifyExport(behind(4), keys, [placeAt(4), other])).toMatchObject({
        ok: false,
        fault: 'head_mismatch',
        seq: 4,
      })
    })
  })

  describe('with heads that a clock ahead signed after their key was retired', () => {
    const RETIRED = { ...key.published, retired_at: '2023-11-14T22:13:20.000Z' }
    const other = newKey('k2')
    const rotated: KeyDocument = { keys: [RETIRED, other.published] }
    const late = (seq: number) => head(key.head(seq, hashOf(seq), { iat: 1_700_000_001 }))
    const all = (...heads: unknown[]) => toText([...whole().slice(0, EVENTS + 1), ...heads])

    it('goes by the others, and counts those', async () => {
      const text = all(late(2), late(4), head(other.head(EVENTS, hashOf(EVENTS))))
      expect(await verifyExport(text, rotated)).toMatchObject({
        ok: true,
        kid: 'k2',
        heads: 1,
        ignoredHeads: 2,
      })
    })
    it('does not verify by theirs', async () => {
      expect(await verifyExport(all(late(EVENTS)), rotated)).toMatchObject({
        ok: false,
        fault: 'end_unsigned',
      })
      const inTime = all(head(key.head(EVENTS, hashOf(EVENTS))))
      expect(await verifyExport(inTime, rotated)).toMatchObject({ ok: true, kid: 'k1' })
    })
    it('does not pass one over whose signature is another’s', async () => {
      const forged = head(newKey('k1').head(2, hashOf(2), { iat: 1_700_000_001 }))
      const text = all(forged, head(other.head(EVENTS, hashOf(EVENTS))))
      expect(await verifyExport(text, rotated)).toMatchObject({ ok: false, fault: 'head_invalid' })
    })
  })

  describe('once the key of some heads was revoked', () => {
    let other: ReturnType<typeof newKey>
    beforeAll(() => void (other = newKey('k2')))
    const revoked = () => ({ keys: [other.published], revoked_keys: [{ kid: 'k1' }] })

    it('goes by the heads of the others', async () => {
      const lines = [...whole(), head(other.head(EVENTS, hashOf(EVENTS)))]
      expect(await verifyExport(toText(lines), revoked())).toMatchObject({
        ok: true,
        kid: 'k2',
        ignoredHeads: 2,
      })
    })
    it('does not verify by theirs', async () => {
      expect(await verifyExport(toText(whole()), revoked())).toMatchObject({
        ok: false,
        fault: 'end_unsigned',
      })
    })
  })
})
