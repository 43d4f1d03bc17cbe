import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHeads, type Heads, type HeadParts } from '../../../src/audit/heads.ts'
import { verifyHead } from '../../../src/audit/verify.ts'
import type { FaultKind } from '../../../src/core/faults.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { digestCanonical } from '../../../src/lib/canonical-json.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { publishedKeys } from '../../../src/receipts/published-keys.ts'
import { decodeJws } from '../../../src/receipts/types.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const CHAIN = 'acct_1'
let temp: TempStore
let lines: string[]
let faults: FaultKind[]
beforeEach(async () => {
  temp = await openTempStore()
  lines = []
  faults = []
})
afterEach(() => temp.close())

async function open(store: Partial<HeadParts['store']> = {}): Promise<Heads> {
  const signer = await openSigner({
    file: join(temp.directory, 'signing.jwk'),
    store: temp.store,
    now: () => 1_000,
    environment: 'sandbox',
  })
  return createHeads({
    store: { ...temp.store, ...store },
    signer,
    baseUrl: 'http://127.0.0.1',
    now: () => 1_000,
    log: createLogger('info', { write: (line: string) => void lines.push(line) }),
    onFault: (kind) => void faults.push(kind),
  })
}
const append = (chain = CHAIN) =>
  temp.store.appendAuditEvents([{ chain, at: 1_000, event: 'key.created' }], { kind: 'gateway' })
const newest = async (chain = CHAIN) => {
  const found = await temp.store.getAuditChain(chain)
  if (!found) throw new Error('nothing happened')
  return found
}
const brokenChains = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'audit_broken')
    .map(({ chain }) => chain)
const seqOf = (jws: string | undefined) => jws && decodeJws(jws).payload['seq']

it('signs the newest place also where it was read before a reader had a newer one signed', async () => {
  await append()
  const heads = await open()
  const stale = await newest()
  await append()
  expect(seqOf((await heads.sign(await newest()))?.jws)).toBe(2)
  const signed = await heads.sign(stale)
  expect([signed?.seq, seqOf(signed?.jws)]).toEqual([2, 2])
  expect(lines).toEqual([])
})

it('sounds no alarm where a chain grows while the others are signed', async () => {
  await append()
  const heads: Heads = await open({
    async listUnsignedChains(after, limit) {
      const chains = await temp.store.listUnsignedChains(after, limit)
      if (chains.length > 0) {
        await append()
        await heads.sign(await newest())
      }
      return chains
    },
  })
  await heads.signAll()
  await heads.signAll()
  expect(lines.join('')).not.toContain('audit_broken')
  expect(faults).toEqual([])
  expect((await newest()).signedSeq).toBe(2)
})

it('sounds the alarm where the end that was signed is gone', async () => {
  await append()
  await append()
  const heads = await open()
  await heads.sign(await newest())
  const before = { ...(await newest()), seq: 1 }
  const cut = await open({ getAuditChain: async () => before })
  await cut.sign(await newest())
  expect(await cut.sign(before)).toBeUndefined()
  expect(lines.join('')).toContain('its end is missing: event 2 was signed')
  expect(faults).toEqual(['audit_broken'])
})

it('signs nothing over a chain whose last signed event is gone', async () => {
  await append()
  let isGone = false
  const heads = await open({
    listAuditEvents: async (query) =>
      (await temp.store.listAuditEvents(query)).filter(({ seq }) => !isGone || seq !== 2),
  })
  await append()
  expect((await heads.sign(await newest()))?.seq).toBe(2)
  isGone = true
  await append()
  expect(await heads.sign(await newest())).toBeUndefined()
  expect(lines.join('')).toContain('event 2 is missing')
})

it.each(['null', '[]', 'no JSON'])(
  'sounds the alarm over a body that was changed into %s, and signs the other chains',
  async (body) => {
    for (const chain of ['acct_1', 'acct_2']) await append(chain)
    const hash = body === 'no JSON' ? 'h' : digestCanonical(JSON.parse(body))
    const heads = await open({
      listAuditEvents: async (query) =>
        (await temp.store.listAuditEvents(query)).map((event) =>
          query.chain === CHAIN ? { ...event, body, hash } : event,
        ),
    })
    await heads.signAll()
    expect(brokenChains()).toEqual([CHAIN])
    expect([(await newest()).signedSeq, (await newest('acct_2')).signedSeq]).toEqual([0, 1])
  },
)

it('signs the other chains where one cannot be looked at, and fails once all had their turn', async () => {
  for (const chain of ['acct_1', 'acct_2']) await append(chain)
  const heads = await open({
    async listAuditEvents(query) {
      if (query.chain === CHAIN) throw new Error('The page of it is gone.')
      return temp.store.listAuditEvents(query)
    },
  })
  await expect(heads.signAll()).rejects.toThrow('The page of it is gone.')
  expect((await newest('acct_2')).signedSeq).toBe(1)
  expect(JSON.parse(lines.at(0) ?? '')).toMatchObject({ level: 50, chain: CHAIN })
})

const unavailable = (reason: string) => new GatewayError('store_unavailable', 'Try again.', { reason })

it('ends with the first chain that finds the store away, and leaves the others to the next time', async () => {
  const names = Array.from({ length: 5 }, (_, i) => `acct_${i}`)
  for (const chain of names) await append(chain)
  const asked: string[] = []
  const isAway = () => asked.length > 2
  const heads = await open({
    async listAuditEvents(query) {
      asked.push(query.chain)
      if (isAway()) throw unavailable('connection')
      return temp.store.listAuditEvents(query)
    },
    health: async () => ({ ok: !isAway(), latencyMs: 0, detail: '' }),
  })
  await expect(heads.signAll()).rejects.toThrow('Try again.')
  expect(asked).toEqual(['acct_0', 'acct_1', 'acct_2'])
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['audit_head', 'audit_head'])
})

it('signs the other chains where the rows of one stay locked, though the store says that it is not available', async () => {
  for (const chain of ['acct_1', 'acct_2']) await append(chain)
  const heads = await open({
    async recordAuditHead(head) {
      if (head.chain === CHAIN) throw unavailable('locked')
      return temp.store.recordAuditHead(head)
    },
  })
  await expect(heads.signAll()).rejects.toThrow('Try again.')
  expect((await newest('acct_2')).signedSeq).toBe(1)
})

it('looks at every chain in turn, however many of those that are looked at first do not hold', async () => {
  const names = Array.from({ length: 201 }, (_, i) => `acct_${String(i).padStart(3, '0')}`)
  await temp.store.appendAuditEvents(
    names.map((chain) => ({ chain, at: 1_000, event: 'key.created' })),
    { kind: 'gateway' },
  )
  let areGone = false
  const heads = await open({
    getAuditChain: async (chain) => (areGone ? undefined : temp.store.getAuditChain(chain)),
  })
  await heads.signAll()
  areGone = true
  await heads.signAll()
  expect(brokenChains()).toEqual(names.slice(0, 200))
  await heads.signAll()
  expect(brokenChains()[200]).toBe(names[200])
})

it('writes each head into the log as it was signed, for whoever verifies an export by it', async () => {
  await append()
  await (await open()).signAll()
  const { chain, seq, hash, jws } = JSON.parse(lines[0] ?? '')
  const keys = publishedKeys(await temp.store.listPublishedKeys())
  expect(await verifyHead(jws, keys)).toMatchObject({ ok: true, place: { chain, seq, hash } })
  expect([chain, seq]).toEqual([CHAIN, 1])
})
