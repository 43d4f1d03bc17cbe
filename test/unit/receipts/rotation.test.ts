import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactVerify, createLocalJWKSet } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { publishedKeys } from '../../../src/receipts/published-keys.ts'
import type { FaultPoint } from '../../../src/lib/fault-points.ts'
import { ROTATION_POINTS } from '../../../src/lib/fault-points.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { createKeyRing } from '../../../src/receipts/key-ring.ts'
import { createRenewReceipt } from '../../../src/receipts/renewal.ts'
import { createSigningKeys } from '../../../src/receipts/signing-keys.ts'
import { decodeJws, JWS_TYPES, verifyJws } from '../../../src/receipts/types.ts'
import { createPublishedKeys } from '../../support/published-keys.ts'

const START = Date.UTC(2026, 10, 21, 12)
let directory: string
let store: ReturnType<typeof createPublishedKeys>
let clock: number
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-gateway-rotation-'))
  store = createPublishedKeys()
  clock = START
})
afterEach(async () => {
  await rm(directory, { recursive: true })
})

/** With another first character of the signature: any end may be the right one. */
function forged(jws: string): string {
  const at = jws.lastIndexOf('.') + 1
  return `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`
}

const fileOf = (name = 'signing') => join(directory, `${name}.jwk`)
const open = (name?: string, cut?: FaultPoint) =>
  openSigner({
    file: fileOf(name),
    store,
    now: () => clock,
    environment: 'production',
    fault: {
      async at(point) {
        if (point === cut) throw new Error('killed')
      },
    },
  })
type Signer = Awaited<ReturnType<typeof open>>
const receiptOf = (signer: Signer, n = 1) =>
  signer.sign(JWS_TYPES.receipt, { n, iat: Math.floor(clock / 1000) })
const document = async () => publishedKeys(await store.listPublishedKeys())
const verdict = async (jws: string) => {
  const found = await verifyJws(jws, await document(), JWS_TYPES.receipt)
  return found.ok ? 'ok' : found.reason
}
const isOwn = (signer: Signer, jws: string) => signer.verifyOwn(jws, JWS_TYPES.receipt) !== undefined

describe('a rotation', () => {
  it('signs with a new key, and what the old one signed verifies here, offline and after a restart', async () => {
    const signer = await open()
    const [old, before] = [signer.kid, receiptOf(signer)]
    clock += 10_000
    expect((await signer.rotate()).kid).toBe(signer.kid)
    expect(signer.kid).not.toBe(old)
    const after = receiptOf(signer, 2)
    expect(decodeJws(after).header['kid']).toBe(signer.kid)
    const again = await open()
    expect(again.kid).toBe(signer.kid)
    for (const jws of [before, after]) {
      expect(await verdict(jws)).toBe('ok')
      expect([isOwn(signer, jws), isOwn(again, jws)]).toEqual([true, true])
    }
    expect(JSON.parse(await readFile(fileOf(), 'utf8'))).not.toHaveProperty('keys')
  })

  it('leaves nothing to the old key that claims to be younger than its retirement', async () => {
    const thief = await open()
    await writeFile(fileOf('copy'), await readFile(fileOf()), { mode: 0o600 })
    const signer = await open()
    clock += 10_000
    await signer.rotate()
    expect(await verdict(receiptOf(thief))).toBe('ok')
    clock += 1_000
    const late = receiptOf(thief)
    expect([await verdict(late), isOwn(signer, late)]).toEqual(['issued_after_retirement', false])
    // An x402 receipt names its moment otherwise.
    const x402 = thief.sign(JWS_TYPES.x402Receipt, { issuedAt: Math.floor(clock / 1000) })
    expect(signer.verifyOwn(x402, JWS_TYPES.x402Receipt)).toBeUndefined()
  })

  it.each(['quote', 'topUp', 'permit', 'offer', 'evidence'] as const)(
    'leaves a %s from before what it was, and nothing else',
    async (kind) => {
      const signer = await open()
      const iat = Math.floor(clock / 1000)
      const jws = signer.sign(JWS_TYPES[kind], { jti: 'one', iat })
      const old = signer.kid
      await signer.rotate()
      const [replica, typ] = [await open(), JWS_TYPES[kind]]
      for (const each of [signer, replica]) {
        expect(each.verifyOwn(jws, typ)).toMatchObject({ jti: 'one', iat })
        expect(each.verifyOwn(jws, JWS_TYPES.receipt)).toBeUndefined()
        expect(each.verifyOwn(forged(jws), typ)).toBeUndefined()
      }
      // A wrapping key signs nothing, whatever its row holds.
      const rows = await store.listPublishedKeys()
      const ring = createKeyRing()
      ring.load(rows.map((key) => ({ ...key, purpose: 'wrap' })))
      expect(ring.verifyOwn(jws, typ)).toBeUndefined()
      await signer.revoke(old, 'stolen')
      expect(signer.verifyOwn(jws, typ)).toBeUndefined()
    },
  )

  it.each(ROTATION_POINTS)('that is cut %s leaves one key signing and all of them published', async (cut) => {
    const signer = await open('signing', cut)
    const [old, before] = [signer.kid, receiptOf(signer)]
    await expect(signer.rotate()).rejects.toThrow('killed')
    await rm(`${fileOf()}.lock`, { force: true })
    clock += 5_000
    const again = await open()
    expect(again.kid === old).toBe(cut === 'after_key_published')
    const after = receiptOf(again, 2)
    for (const jws of [before, after]) expect([await verdict(jws), isOwn(again, jws)]).toEqual(['ok', true])
    await again.rotate()
    const open_ = (await store.listPublishedKeys()).filter(({ retiredAt }) => retiredAt === null)
    expect(open_.map(({ kid }) => kid)).toEqual([again.kid])
    expect(JSON.parse(await readFile(fileOf(), 'utf8'))).not.toHaveProperty('keys')
  })

  it('is one of two at once, and both are done', async () => {
    const signer = await open()
    const kids = await Promise.all([signer.rotate(), signer.rotate()])
    expect(new Set(kids.map(({ kid }) => kid)).size).toBe(2)
    expect(kids[1]!.kid).toBe(signer.kid)
  })
})

describe('replicas', () => {
  it('that share the key file take the new key from it', async () => {
    const [one, two] = [await open(), await open()]
    await one.rotate()
    const fresh = receiptOf(one)
    await two.refresh()
    expect([two.kid, isOwn(two, fresh)]).toEqual([one.kid, true])
  })

  it('that have a file each make a key each, and know each other’s documents', async () => {
    const [one, two] = [await open('one'), await open('two')]
    const [first, second] = [one.kid, two.kid]
    await one.refresh()
    expect(isOwn(one, receiptOf(two))).toBe(true)
    await one.rotate()
    await two.refresh()
    expect(new Set([first, second, one.kid, two.kid]).size).toBe(4)
    await one.refresh()
    expect(isOwn(one, receiptOf(two))).toBe(true)
    expect((await open('two')).kid).toBe(two.kid)
  })

  it('are told of a new key before it signs, and of the old one’s end only after they had time to hear', async () => {
    const signer = await openSigner({
      file: fileOf(),
      store,
      now: () => clock,
      environment: 'production',
      hasReplicas: true,
    })
    const old = signer.kid
    const rotated = signer.rotate()
    await vi.waitFor(async () => expect(await store.listPublishedKeys()).toHaveLength(2), { timeout: 60_000 })
    expect(signer.kid).toBe(old)
    await rotated
    const [retired] = await store.listPublishedKeys()
    expect(retired!.retiredAt! - clock).toBeGreaterThanOrEqual(30_000)
  })
})

describe('a revoked key', () => {
  it('verifies nothing, old or new, here and offline, and a library that knows no validity has no key', async () => {
    const signer = await open()
    await writeFile(fileOf('copy'), await readFile(fileOf()), { mode: 0o600 })
    const honest = receiptOf(signer)
    const stolen = signer.kid
    await createSigningKeys({ store, signer }).revoke(stolen, 'stolen with a backup')
    expect(signer.kid).not.toBe(stolen)
    const thief = await openSigner({
      file: fileOf('copy'),
      store: createPublishedKeys(),
      now: () => clock,
      environment: 'production',
    })
    const again = await open()
    for (const jws of [honest, receiptOf(thief, 2)]) {
      expect(decodeJws(jws).header['kid']).toBe(stolen)
      expect([await verdict(jws), isOwn(signer, jws), isOwn(again, jws)]).toEqual([
        'key_revoked',
        false,
        false,
      ])
    }
    const { keys, revoked_keys } = await document()
    expect(revoked_keys).toMatchObject([{ kid: stolen, reason: 'stolen with a backup' }])
    await expect(compactVerify(honest, createLocalJWKSet({ keys } as never))).rejects.toThrow(
      /no applicable key/,
    )
    // A key document that an older release wrote, with the moment beside the key.
    const { x } = JSON.parse((await store.listPublishedKeys())[0]!.jwk) as { x: string }
    const marked = { kty: 'OKP', crv: 'Ed25519', x, kid: stolen, revoked_at: '2026-11-21T12:00:00.000Z' }
    expect(await verifyJws(honest, { keys: [marked] }, JWS_TYPES.receipt)).toMatchObject({
      reason: 'key_revoked',
    })
  })

  it('that was put back with a backup signs nothing: the start makes another', async () => {
    const signer = await open()
    const backup = await readFile(fileOf())
    await signer.revoke(signer.kid, 'stolen')
    await writeFile(fileOf(), backup, { mode: 0o600 })
    const restored = await open()
    expect([signer.kid, decodeJws(receiptOf(signer)).header['kid']]).not.toContain(restored.kid)
    expect(await verdict(receiptOf(restored))).toBe('ok')
  })

  it('is left by every replica', async () => {
    const [one, two] = [await open('one'), await open('two')]
    await one.revoke(two.kid, 'stolen from two')
    await two.refresh()
    expect(await verdict(receiptOf(two))).toBe('ok')
  })

  it('has signed receipts that are shown signed anew, with the same claims and the key that was revoked', async () => {
    const signer = await open()
    const renew = createRenewReceipt(signer)
    const stored = { id: 'rcp_1', accountId: 'acct', jws: receiptOf(signer), createdAt: clock }
    expect(renew(stored)).toEqual({ ...stored, revokedKey: null })
    const stolen = signer.kid
    await signer.rotate()
    expect(renew(stored).jws).toBe(stored.jws)
    await signer.revoke(stolen, 'stolen')
    const shown = renew(stored)
    expect(shown.revokedKey).toEqual({ kid: stolen, revokedAt: clock, reason: 'stolen' })
    expect(decodeJws(shown.jws).payload).toEqual(decodeJws(stored.jws).payload)
    expect([await verdict(stored.jws), await verdict(shown.jws)]).toEqual(['key_revoked', 'ok'])
  })
})

describe('the operator', () => {
  it('retires any key but the one that signs, and none that does not exist', async () => {
    const [one, two] = [await open('one'), await open('two')]
    const keys = createSigningKeys({ store, signer: one })
    expect((await keys.list()).map(({ kid, state }) => [kid, state])).toEqual([
      [two.kid, 'published'],
      [one.kid, 'signing'],
    ])
    expect(await keys.retire(two.kid)).toMatchObject({ state: 'retired', retiredAt: clock })
    await expect(keys.retire(one.kid)).rejects.toMatchObject({ code: 'state_conflict' })
    await expect(keys.retire('nobody')).rejects.toMatchObject({ code: 'key_not_found' })
    await expect(keys.revoke('nobody', 'x')).rejects.toMatchObject({ code: 'key_not_found' })
    expect(await keys.revoke(two.kid, 'first')).toMatchObject({
      state: 'revoked',
      revocationReason: 'first',
    })
    clock += 1_000
    expect(await keys.revoke(two.kid, 'again')).toMatchObject({
      revokedAt: START,
      revocationReason: 'first',
    })
  })
})
