// Minted tokens, held to the same behaviour on every engine: one exchange at a time, and no answer stored over a newer one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { addAccount, addCredential, createPlace, ENGINES, NOW, type Place } from '../support/store.ts'

const LATER = NOW + 15_000
const sealed = (word: string) => ({ ciphertext: word, iv: 'aXYy', tag: 'dGFnMg' })

describe.each(ENGINES)('minted tokens in %s', (engine) => {
  let place: Place
  let store: Store
  let other: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'minted')
    store = await place.open('boot-1')
    // One process holds a file; a database serves several.
    other = engine === 'postgres' ? await place.open('boot-2') : store
  })
  afterAll(() => place.remove())

  const setting = async () => {
    const accountId = await addAccount(store, 0)
    const { id: credentialId, version } = await addCredential(store, accountId)
    const claimAs = (claim: string, more: Partial<Parameters<Store['claimMint']>[0]> = {}, at = store) =>
      at.claimMint({
        credentialId,
        accountId,
        version,
        keyId: 'key-1',
        claim,
        now: NOW,
        until: LATER,
        ...more,
      })
    const save = (
      fromGeneration: number,
      word: string,
      more: Partial<Parameters<Store['saveMintedTokens']>[0]> = {},
    ) =>
      store.saveMintedTokens({
        credentialId,
        accountId,
        keyId: 'key-1',
        fromGeneration,
        sealed: sealed(word),
        mintedAt: NOW,
        usableUntil: NOW + 3_600_000,
        ...more,
      })
    return { accountId, credentialId, version, claimAs, save }
  }

  it('lets one of many claim the exchange, over all replicas', async () => {
    const { claimAs } = await setting()
    const claimed = await Promise.all(
      Array.from({ length: 16 }, (_, i) => claimAs(`claim-${i}`, {}, i % 2 ? store : other)),
    )
    expect(claimed.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1)
    expect(claimed.filter(({ outcome }) => outcome === 'busy')).toHaveLength(15)
  })

  it('gives a claim to the next when its time is over, and says that it was interrupted', async () => {
    const { claimAs } = await setting()
    await claimAs('dead')
    expect(await claimAs('early', { now: LATER - 1 })).toMatchObject({
      outcome: 'busy',
      row: { claim: 'dead' },
    })
    expect(await claimAs('heir', { now: LATER, until: LATER + 1 })).toMatchObject({
      outcome: 'claimed',
      isInterrupted: true,
      row: { claim: 'heir' },
    })
  })

  it('prolongs a claim, also one that lapsed, until somebody else has it', async () => {
    const { credentialId, claimAs } = await setting()
    const renew = (claim: string, until: number) => other.renewMintClaim({ credentialId, claim, until })
    expect(await renew('one', LATER)).toBe(false)
    await claimAs('one')
    expect(await renew('one', LATER + 10)).toBe(true)
    expect(await claimAs('early', { now: LATER + 9 })).toMatchObject({ outcome: 'busy' })
    expect(await renew('stranger', LATER + 20)).toBe(false)
    expect(await renew('one', LATER + 30)).toBe(true)
    expect(await claimAs('heir', { now: LATER + 30, until: LATER + 40 })).toMatchObject({
      outcome: 'claimed',
      isInterrupted: true,
    })
    expect(await renew('one', LATER + 50)).toBe(false)
    await store.endMintClaim({ credentialId, claim: 'heir', failed: null })
    expect(await renew('heir', LATER + 50)).toBe(false)
  })

  it('stores what was minted, and ends the claim', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    expect(await store.getMintedTokens(credentialId, accountId)).toBeUndefined()
    expect(await claimAs('one')).toMatchObject({ isInterrupted: false, row: { generation: 0, sealed: null } })
    await save(0, 'first')
    const row = await store.getMintedTokens(credentialId, accountId)
    expect(row).toMatchObject({
      generation: 1,
      sealed: sealed('first'),
      claim: null,
      mintedAt: NOW,
      failures: 0,
    })
    expect(await store.getMintedTokens(credentialId, await addAccount(store, 0))).toBeUndefined()
  })

  it('stores no late answer over a newer one', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    await claimAs('slow')
    await claimAs('fast', { now: LATER, until: LATER + 1 })
    expect(await save(0, 'fast')).toMatchObject({ generation: 1 })
    expect(await save(0, 'slow')).toBeUndefined()
    expect((await store.getMintedTokens(credentialId, accountId))?.sealed).toEqual(sealed('fast'))
  })

  it('counts failures until one exchange succeeds, and only the claimant reports one', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    for (const claim of ['a', 'b']) {
      await claimAs(claim)
      const failed = { failure: '{"reason":"busy"}', retryAt: NOW + 5 }
      expect(await store.endMintClaim({ credentialId, claim: 'stranger', failed })).toBe(false)
      expect(await store.endMintClaim({ credentialId, claim, failed })).toBe(true)
    }
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({
      failures: 2,
      failure: '{"reason":"busy"}',
      retryAt: NOW + 5,
      claim: null,
    })
    await claimAs('c')
    expect(await store.endMintClaim({ credentialId, claim: 'c', failed: null })).toBe(true)
    await save(0, 'good')
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({
      failures: 0,
      failure: null,
      retryAt: null,
    })
  })

  it('stores what came with a failure, in one step', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    for (const [generation, word] of ['first', 'second'].entries()) {
      await claimAs(word)
      const failed = { failure: '{"reason":"malformed"}', retryAt: NOW + 5 }
      await save(generation, word, { mintedAt: null, usableUntil: null, failed })
    }
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({
      generation: 2,
      sealed: sealed('second'),
      claim: null,
      mintedAt: null,
      usableUntil: null,
      failures: 2,
      failure: '{"reason":"malformed"}',
      retryAt: NOW + 5,
    })
    await save(2, 'third')
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({ failures: 0, failure: null })
  })

  it('forgets what was minted from the secret before, and refuses who still has the old version', async () => {
    const { accountId, credentialId, version, claimAs, save } = await setting()
    await claimAs('one')
    await save(0, 'first')
    const { sealed: seal } = (await store.getCredential(credentialId, accountId)) ?? {}
    if (!seal) throw new Error('no credential')
    await store.rotateCredential({
      id: credentialId,
      accountId,
      fromVersion: version,
      sealed: seal,
      now: NOW,
    })
    expect(await claimAs('old')).toEqual({ outcome: 'changed' })
    expect(await claimAs('new', { version: version + 1, keyId: 'key-2' })).toMatchObject({
      outcome: 'claimed',
      isInterrupted: false,
      row: { keyId: 'key-2', generation: 2, sealed: null, usableUntil: null },
    })
    expect(await save(1, 'late answer of the old secret')).toBeUndefined()
  })

  it('keeps what was minted where only the version of the credential changed', async () => {
    const { accountId, credentialId, version, claimAs, save } = await setting()
    await claimAs('one')
    await save(0, 'first')
    const { sealed: seal } = (await store.getCredential(credentialId, accountId)) ?? {}
    if (!seal) throw new Error('no credential')
    await store.rotateCredential({
      id: credentialId,
      accountId,
      fromVersion: version,
      sealed: seal,
      now: NOW,
    })
    expect(await claimAs('new', { version: version + 1 })).toMatchObject({
      outcome: 'claimed',
      row: { generation: 1, sealed: sealed('first') },
    })
  })

  it('refuses a rotation that keeps the refresh token while somebody may have another, and no longer', async () => {
    const { accountId, credentialId, version, claimAs, save } = await setting()
    const { sealed: seal } = (await store.getCredential(credentialId, accountId)) ?? {}
    if (!seal) throw new Error('no credential')
    const rotate = (mintedGeneration: number | null, goneIfLapsedBy: number) =>
      other.rotateCredential({
        id: credentialId,
        accountId,
        fromVersion: version,
        sealed: seal,
        mintedGeneration,
        goneIfLapsedBy,
        now: NOW,
      })
    await claimAs('one')
    expect(await rotate(0, NOW)).toBe(false)
    await save(0, 'first')
    await claimAs('two')
    expect(await rotate(1, LATER - 1)).toBe(false)
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({ sealed: sealed('first') })
    // Whoever asked has nothing to store any more by then.
    expect(await rotate(1, LATER)).toBe(true)
    expect(await store.getMintedTokens(credentialId, accountId)).toBeUndefined()

    const others = await setting()
    await others.claimAs('one')
    expect(
      await store.rotateCredential({
        id: others.credentialId,
        accountId: others.accountId,
        fromVersion: others.version,
        sealed: seal,
        mintedGeneration: 0,
        now: NOW,
      }),
    ).toBe(true)
  })

  it('ends what was minted with its secret, and refuses a rotation that has not seen all of it', async () => {
    const { accountId, credentialId, version, claimAs, save } = await setting()
    const { sealed: seal } = (await store.getCredential(credentialId, accountId)) ?? {}
    if (!seal) throw new Error('no credential')
    const rotate = (fromVersion: number, mintedGeneration: number | null) =>
      store.rotateCredential({
        id: credentialId,
        accountId,
        fromVersion,
        sealed: seal,
        mintedGeneration,
        now: NOW,
      })
    expect(await rotate(version, 0)).toBe(false)
    await claimAs('one')
    expect(await rotate(version, null)).toBe(false)
    await save(0, 'first')
    await claimAs('two')
    expect(await rotate(version, 0)).toBe(false)
    expect(await store.getCredential(credentialId, accountId)).toMatchObject({ version })
    expect(await rotate(version, 1)).toBe(true)
    expect(await save(1, 'late answer of the old secret')).toBeUndefined()
    expect(await store.getMintedTokens(credentialId, accountId)).toBeUndefined()
    expect(await claimAs('three')).toEqual({ outcome: 'changed' })
    expect(await rotate(version + 1, null)).toBe(true)
  })

  it('distrusts a token that is old enough, of the generation that was refused', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    await claimAs('one')
    await save(0, 'first')
    const distrust = (generation: number, mintedBefore: number) =>
      store.distrustMintedTokens({ credentialId, generation, mintedBefore })
    expect(await distrust(1, NOW - 1)).toBe(false)
    expect(await distrust(2, NOW)).toBe(false)
    expect(await distrust(1, NOW)).toBe(true)
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({
      usableUntil: 0,
      sealed: sealed('first'),
    })
  })

  it('wipes the tokens of a credential that is revoked, and stores no answer that comes later', async () => {
    const { accountId, credentialId, claimAs, save } = await setting()
    await claimAs('one')
    await save(0, 'first')
    await claimAs('two')
    await store.revokeCredential({ id: credentialId, accountId, now: NOW })
    expect(await store.getMintedTokens(credentialId, accountId)).toBeUndefined()
    expect(await save(1, 'late')).toBeUndefined()
    expect(await claimAs('three')).toEqual({ outcome: 'changed' })
  })
})
