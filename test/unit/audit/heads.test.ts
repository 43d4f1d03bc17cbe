import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHeads, type Heads, type HeadParts } from '../../../src/audit/heads.ts'
import type { FaultKind } from '../../../src/core/faults.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
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
const append = () =>
  temp.store.appendAuditEvents([{ chain: CHAIN, at: 1_000, event: 'key.created' }], { kind: 'gateway' })
const newest = async () => {
  const chain = await temp.store.getAuditChain(CHAIN)
  if (!chain) throw new Error('nothing happened')
  return chain
}
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
