// What the minter does where the store or the provider fails in the middle; whole exchanges are test/flow/egress-oauth.test.ts.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { CredentialKind } from '../../../../schemas/credential-kinds.ts'
import type { Alert } from '../../../../src/core/alerts.ts'
import type { SealedCredential, Store } from '../../../../src/store/ports.ts'
import { livingTokens } from '../../../../src/egress/kinds/living-tokens.ts'
import { createMinter, type MinterParts } from '../../../../src/egress/kinds/minter.ts'
import { replaceSecret } from '../../../../src/egress/kinds/replacing.ts'
import { checkSigningKey, completeParts } from '../../../../src/egress/kinds/rules.ts'
import { createTokenHttp } from '../../../../src/egress/kinds/token-http.ts'
import { createTokenSeal } from '../../../../src/egress/kinds/token-seal.ts'
import { joinParts } from '../../../../src/egress/placement/parts.ts'
import type { Vault } from '../../../../src/egress/ports.ts'
import { noFault } from '../../../../src/lib/fault-points.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { addAccount, addCredential, createPlace, log, type Place } from '../../../support/store.ts'

let place: Place
let store: Store
let accountId: string
beforeAll(async () => {
  place = await createPlace('sqlite', 'minter')
  store = await place.open('boot-1')
  accountId = await addAccount(store, 0)
})
afterAll(() => place.remove())

/** A provider that replaces its refresh token, and takes each of them once. */
function createProvider(expiresIn: number | 'untold' = 3600) {
  let current = 1
  const seen: string[] = []
  let delay: Promise<unknown> = Promise.resolve()
  let odd: Record<string, unknown> = {}
  return {
    seen,
    /** Its good answers are so from now on. */
    answerWith: (members: Record<string, unknown>) => void (odd = members),
    hold: (until: Promise<unknown>) => void (delay = until),
    ask: async ({ body }: { body: Secret<string> | undefined }) => {
      await delay
      const token = new URLSearchParams(body?.use((text) => text)).get('refresh_token') ?? ''
      seen.push(token)
      const isGood = token === `refresh-token-${current}`
      if (isGood) current++
      const answer = isGood
        ? {
            access_token: `access-token-${current}`,
            token_type: 'bearer',
            ...(expiresIn !== 'untold' && { expires_in: expiresIn }),
            refresh_token: `refresh-token-${current}`,
            ...odd,
          }
        : { error: 'invalid_grant', error_description: `${token} was used before` }
      return {
        status: isGood ? 200 : 400,
        headers: [{ name: 'content-type', value: 'application/json' }],
        body: Buffer.from(JSON.stringify(answer)),
      }
    },
  }
}

async function setUp(over: Partial<Store> = {}, expiresIn?: number | 'untold') {
  const provider = createProvider(expiresIn)
  const given = new Map([
    ['refresh_token', new Secret('refresh-token-1')],
    ['client_secret', new Secret('client-secret')],
  ])
  const kind = {
    type: 'oauth2_refresh_token',
    token_url: 'https://login.example.com/token',
    client_id: 'gateway',
  } as const
  const { secret, settings } = completeParts(given, { kind }, { ports: [443] })
  const credential: SealedCredential = { ...(await addCredential(store, accountId)), settings }
  const clock = { ms: 1_800_000_000_000 }
  const minter = createMinter({
    store: { ...store, ...over },
    askFor: () => provider.ask,
    now: () => clock.ms,
    log,
    fault: noFault,
  })
  const mint = (withinMs = 5_000) => minter.tokenFor(credential, { parts: secret, tls: undefined }, withinMs)
  return { provider, credential, secret, minter, mint, clock }
}
type SetUp = Awaited<ReturnType<typeof setUp>>

/** Another replica, or this one with a store that fails; over the requests that really are made. */
function replicaOf(
  { provider, credential, secret, clock }: SetUp,
  { store: over, ...more }: Partial<Omit<MinterParts, 'store'>> & { readonly store?: Partial<Store> } = {},
  onAnswer: () => void = () => {},
) {
  const http: Parameters<typeof createTokenHttp>[0] = {
    resolver: { resolve: async () => ['192.0.2.1'] },
    sender: {
      async send({ body }) {
        const text = body && new Secret(body.toString())
        const answer = await provider.ask({ body: text })
        onAnswer()
        return { ok: true, response: { statusText: '', ...answer } }
      },
      close: async () => {},
    },
    reach: () => ({ classify: () => ({ ok: true }) }),
    checkHost: async () => ({ ok: true }),
    now: () => clock.ms,
  }
  const minter = createMinter({
    store: { ...store, ...over },
    askFor: (of, exchanging) => createTokenHttp(http, of, exchanging),
    now: () => clock.ms,
    log,
    fault: noFault,
    ...more,
  })
  return {
    mint: () => minter.tokenFor(credential, { parts: secret, tls: undefined }, 5_000),
    settled: () => minter.settled(),
  }
}

const textOf = async (minted: Promise<{ accessToken: Secret<string> }>) =>
  (await minted).accessToken.use((token) => token)

/** An upstream refuses the token, so long after the last one. @returns the token of the next call */
const refusing =
  ({ minter, credential, mint, clock }: Pick<SetUp, 'minter' | 'credential' | 'mint' | 'clock'>) =>
  async (afterMs: number, soughtBytes = 100): Promise<string> => {
    clock.ms += afterMs
    await minter.distrust(credential, { ...(await mint()), soughtBytes })
    return textOf(mint())
  }

describe('a minter', () => {
  it.each([1e16, 1e300])(
    'stores a token that its provider says lives %d seconds, for a year',
    async (expiresIn) => {
      const { provider, mint, clock } = await setUp({}, expiresIn)
      expect(await textOf(mint(1_000))).toBe('access-token-2')
      clock.ms += 364 * 24 * 3_600_000
      expect(await textOf(mint())).toBe('access-token-2')
      clock.ms += 24 * 3_600_000
      expect(await textOf(mint())).toBe('access-token-3')
      expect(provider.seen).toEqual(['refresh-token-1', 'refresh-token-2'])
    },
  )

  it('keeps a new refresh token through a store that takes nothing for a while', async () => {
    let refusals = 3
    const { provider, mint, clock } = await setUp({
      saveMintedTokens: async (input) => {
        if (refusals-- > 0) throw new Error('the disk is full')
        return store.saveMintedTokens(input)
      },
    })
    expect(await textOf(mint())).toBe('access-token-2')
    clock.ms += 3_600_000
    expect(await textOf(mint())).toBe('access-token-3')
    expect(provider.seen).toEqual(['refresh-token-1', 'refresh-token-2'])
  })

  it.each([
    ['another type', { token_type: 'mac' }],
    ['a token that is too long', { access_token: 'a'.repeat(9_000) }],
    ['no token', { access_token: undefined }],
  ])('keeps a new refresh token from an answer with %s', async (_, odd) => {
    const { provider, credential, mint, clock } = await setUp()
    provider.answerWith(odd)
    const malformed = { code: 'credential_unavailable', reason: 'token_malformed' }
    await expect(mint()).rejects.toMatchObject(malformed)
    await expect(mint()).rejects.toMatchObject(malformed)
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({
      claim: null,
      failures: 1,
      retryAt: clock.ms + 30_000,
    })
    clock.ms += 31_000
    await expect(mint()).rejects.toMatchObject(malformed)
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({ failures: 2 })
    clock.ms += 31_000
    provider.answerWith({})
    expect(await textOf(mint())).toBe('access-token-4')
    expect(provider.seen).toEqual(['refresh-token-1', 'refresh-token-2', 'refresh-token-3'])
  })

  it('searches answers for the token that lives on when a later exchange gave none', async () => {
    const { provider, secret, credential, mint, clock } = await setUp({}, 120)
    await mint()
    clock.ms += 110_000
    provider.answerWith({ token_type: 'mac' })
    await expect(mint()).rejects.toMatchObject({ reason: 'token_malformed' })
    const row = await store.getMintedTokens(credential.id, accountId)
    const textsOf = (texts: readonly { readonly secret: Secret<string> }[]) =>
      texts.map((text) => text.secret.use((token) => token))
    expect(textsOf(livingTokens(row, secret, clock.ms))).toEqual(['refresh-token-3', 'access-token-2'])
    provider.answerWith({})
    clock.ms += 30_000
    const { previous } = await mint()
    expect(previous).toEqual([])
  })

  it('says that a refresh token may be spent after an answer from which nothing could be taken', async () => {
    const { provider, mint, clock } = await setUp()
    provider.answerWith({ token_type: 'mac', refresh_token: 'no token' })
    await expect(mint()).rejects.toMatchObject({ reason: 'token_malformed' })
    clock.ms += 31_000
    const refused = await mint().catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({ reason: 'token_refused', extras: { oauth_error: 'invalid_grant' } })
    expect(String(refused)).toContain('An earlier exchange ended without an answer that could be used')
  })

  it('tells an operator what to do where a provider refuses with a status of success', async () => {
    const { provider, mint } = await setUp()
    provider.answerWith({ access_token: undefined, refresh_token: undefined, error: 'bad_refresh_token' })
    const refused = await mint().catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({
      reason: 'token_refused',
      extras: { oauth_error: 'invalid_grant', mended_by: 'operator' },
    })
    expect(String(refused)).toContain('revoked, has expired or was used elsewhere')
  })

  it('hands out no token before it is stored', async () => {
    const stored = Promise.withResolvers<void>()
    const { mint } = await setUp({
      saveMintedTokens: async (input) => {
        await stored.promise
        return store.saveMintedTokens(input)
      },
    })
    let isHandedOut = false
    const minting = mint().finally(() => (isHandedOut = true))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(isHandedOut).toBe(false)
    stored.resolve()
    expect(await textOf(minting)).toBe('access-token-2')
  })

  it('finishes an exchange that its caller stopped waiting for, and is settled only then', async () => {
    const { provider, minter, mint } = await setUp()
    const answered = Promise.withResolvers<void>()
    provider.hold(answered.promise)
    await expect(mint(20)).rejects.toMatchObject({
      code: 'credential_unavailable',
      extras: { mended_by: 'waiting' },
    })
    let isSettled = false
    const settled = minter.settled().then(() => (isSettled = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isSettled).toBe(false)
    answered.resolve()
    await settled
    expect(await textOf(mint())).toBe('access-token-2')
    expect(provider.seen).toEqual(['refresh-token-1'])
  })

  it('waits for no other replica, and asks nobody, once its process is about to end', async () => {
    const both = await setUp()
    const { credential, clock, provider } = both
    const { id: credentialId, version } = credential
    await store.claimMint({
      credentialId,
      accountId,
      version,
      keyId: createTokenSeal(both.secret).keyId,
      claim: 'of another',
      now: clock.ms,
      until: clock.ms + 15_000,
    })
    const isPolling = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { mint, settled } = replicaOf(both, {
      async sleep() {
        isPolling.resolve()
        await goOn.promise
      },
    })
    const minting = mint().catch((thrown: unknown) => thrown)
    await isPolling.promise
    const ended = settled()
    clock.ms += 15_000
    goOn.resolve()
    await ended
    expect(await minting).toMatchObject({ reason: 'token_in_progress', extras: { mended_by: 'waiting' } })
    expect(await store.getMintedTokens(credentialId, accountId)).toMatchObject({ claim: 'of another' })
    expect(provider.seen).toEqual([])
  })

  it('leaves a claim that it took over to lapse, where its process is about to end meanwhile', async () => {
    const both = await setUp()
    const { credential, clock, provider } = both
    const { id: credentialId, version } = credential
    const { keyId } = createTokenSeal(both.secret)
    const claim = (name: string) =>
      store.claimMint({
        credentialId,
        accountId,
        version,
        keyId,
        claim: name,
        now: clock.ms,
        until: clock.ms + 15_000,
      })
    await claim('of another')
    clock.ms += 15_000
    const isWaiting = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { mint, settled } = replicaOf(both, {
      async sleep() {
        isWaiting.resolve()
        await goOn.promise
      },
    })
    const minting = mint().catch((thrown: unknown) => thrown)
    await isWaiting.promise
    const ended = settled()
    goOn.resolve()
    await ended
    expect(await minting).toMatchObject({ reason: 'token_in_progress' })
    expect(provider.seen).toEqual([])
    clock.ms += 15_000
    expect(await claim('the next')).toMatchObject({ outcome: 'claimed', isInterrupted: true })
  })

  it('asks again by itself when a failure has had its time, each time later', async () => {
    const { provider, minter, credential, secret, clock } = await setUp()
    const opened = { parts: secret, tls: undefined }
    const asked: number[] = []
    let isUp = false
    const flaky = createMinter({
      store,
      askFor: () => async (request) => {
        asked.push(clock.ms)
        return isUp ? provider.ask(request) : { status: 503, headers: [], body: Buffer.from('') }
      },
      now: () => clock.ms,
      log,
      fault: noFault,
    })
    const start = clock.ms
    for (; clock.ms < start + 16_000; clock.ms += 500)
      await flaky.tokenFor(credential, opened, 1_000).catch(() => {})
    expect(asked.map((at) => at - start)).toEqual([0, 1_000, 3_000, 7_000, 15_000])
    isUp = true
    clock.ms = start + 40_000
    expect(await textOf(flaky.tokenFor(credential, opened, 1_000))).toBe('access-token-2')
    expect(await textOf(minter.tokenFor(credential, opened, 1_000))).toBe('access-token-2')
  })

  it('asks again at once when the credential was edited since an exchange failed, and not before', async () => {
    const both = await setUp()
    const { credential } = both
    const asked: number[] = []
    const askFor: MinterParts['askFor'] = (of) => async (request) => {
      asked.push(of.version)
      return of.version > 1 ? both.provider.ask(request) : { status: 403, headers: [], body: Buffer.from('') }
    }
    const mint = () => replicaOf(both, { askFor }).mint()
    for (let i = 0; i < 2; i++) await expect(mint()).rejects.toMatchObject({ reason: 'token_refused' })
    expect(asked).toEqual([1])
    const { id, label, scope, settings, sealed } = credential
    const edit = { id, accountId, fromVersion: 1, label, scope, settings, sealed, now: both.clock.ms }
    await store.editCredential({ ...edit, budgets: undefined })
    const edited = replicaOf({ ...both, credential: { ...credential, version: 2 } }, { askFor })
    expect(await textOf(edited.mint())).toBe('access-token-2')
    expect(asked).toEqual([1, 2])
  })

  it('has people told of a refresh token that is worth nothing any more, without the token', async () => {
    const told: Alert[] = []
    const { credential, secret, clock, provider } = await setUp()
    const stolen = new Map([...secret, ['refresh_token', new Secret('refresh-token-stolen')] as const])
    const minter = createMinter({
      store,
      askFor: () => provider.ask,
      now: () => clock.ms,
      log,
      fault: noFault,
      alerts: { tell: (alert) => void told.push(alert) },
    })
    await expect(minter.tokenFor(credential, { parts: stolen, tls: undefined }, 5_000)).rejects.toMatchObject(
      {
        code: 'credential_unavailable',
      },
    )
    expect(told).toMatchObject([
      { kind: 'refresh_failed', accountId, about: credential.id, data: { credential_id: credential.id } },
    ])
    expect(JSON.stringify(told)).not.toContain('stolen')
  })

  it('does not open a row that was changed, nor fall back to the first refresh token', async () => {
    const { provider, credential, mint, secret } = await setUp()
    await mint()
    const row = await store.getMintedTokens(credential.id, accountId)
    if (!row?.sealed) throw new Error('nothing was stored')
    const seal = createTokenSeal(secret)
    expect(() =>
      seal.open(row.sealed ?? { ciphertext: '', iv: '', tag: '' }, { ...row, generation: 7 }),
    ).toThrow()
    expect(() =>
      seal.open(row.sealed ?? { ciphertext: '', iv: '', tag: '' }, { ...row, accountId: 'acct_other' }),
    ).toThrow()
    await store.saveMintedTokens({
      ...row,
      fromGeneration: row.generation,
      sealed: { ...row.sealed, tag: Buffer.alloc(16, 1).toString('base64url') },
      mintedAt: 0,
      usableUntil: Number.MAX_SAFE_INTEGER,
    })
    await expect(mint()).rejects.toMatchObject({
      code: 'credential_unavailable',
      extras: { mended_by: 'operator' },
    })
    expect(provider.seen).toEqual(['refresh-token-1'])
  })

  it('mints another for one that is refused: at first after a minute, and twice as late for each earlier one that lives', async () => {
    const { credential, minter, mint, clock } = await setUp()
    const refuse = refusing({ minter, credential, mint, clock })
    await mint()
    expect(await refuse(59_999)).toBe('access-token-2')
    expect(await refuse(1)).toBe('access-token-3')
    expect(await refuse(119_999)).toBe('access-token-3')
    expect(await refuse(1)).toBe('access-token-4')
    expect(await refuse(239_999)).toBe('access-token-4')
    expect(await refuse(1)).toBe('access-token-5')
    // All of them have ended by then.
    expect(await refuse(3_600_000)).toBe('access-token-6')
    expect((await mint()).previous).toEqual([])
    expect(await refuse(60_000)).toBe('access-token-7')
  })

  it.each([
    ['all that live, of a provider that says when they end', 86_400, 8],
    ['the last four, of one that does not', 'untold', 4],
  ] as const)('has answers searched for %s', async (_, expiresIn, count) => {
    const { credential, minter, mint, clock } = await setUp({}, expiresIn)
    await mint()
    for (let refused = 0; refused < 8; refused++) {
      clock.ms += 60_000 * 2 ** Math.min(refused, 4)
      await minter.distrust(credential, { ...(await mint()), previous: [], soughtBytes: 100 })
      await mint()
    }
    expect((await mint()).previous).toHaveLength(count)
  })

  it('searches for a token until it has ended, however long its exchange took', async () => {
    const both = await setUp({}, 100)
    const { provider, mint, clock } = both
    const start = clock.ms
    const answered = Promise.withResolvers<void>()
    const isAsked = Promise.withResolvers<void>()
    const askFor: MinterParts['askFor'] = () => async (request) => {
      isAsked.resolve()
      await answered.promise
      return provider.ask(request)
    }
    const minting = replicaOf(both, { askFor }).mint()
    await isAsked.promise
    clock.ms += 45_000
    answered.resolve()
    await minting
    clock.ms = start + 90_000
    expect(await textOf(mint())).toBe('access-token-3')
    clock.ms = start + 144_999
    const { previous } = await mint()
    expect(previous.map(({ token }) => token.use((text) => text))).toEqual(['access-token-2'])
    clock.ms += 1
    expect((await mint()).previous).toEqual([])
  })

  it('keeps a fifth token that is refused where another would not fit into a search, until one before it ends', async () => {
    const { credential, minter, mint, clock } = await setUp({}, 86_400)
    const refuse = refusing({ minter, credential, mint, clock })
    await mint()
    const start = clock.ms
    for (let earlier = 0; earlier < 4; earlier++)
      expect(await refuse(60_000 * 2 ** earlier, 32 * 1024)).toBe(`access-token-${earlier + 3}`)
    expect(await refuse(60_000 * 2 ** 4, 32 * 1024)).toBe('access-token-6')
    clock.ms = start + 86_400_000
    expect((await mint()).previous).toHaveLength(3)
    expect(await refuse(0, 32 * 1024)).toBe('access-token-7')
  })

  it('replaces a fifth token that is refused where another just fits into a search', async () => {
    const { credential, minter, mint, clock } = await setUp({}, 86_400)
    await mint()
    const soughtBytes = 16 * 1024 - 'access-token-6'.length
    const refuse = refusing({ minter, credential, mint, clock })
    for (let earlier = 0; earlier < 4; earlier++) await refuse(60_000 * 2 ** earlier, soughtBytes)
    expect(await refuse(60_000 * 2 ** 4, soughtBytes + 1)).toBe('access-token-6')
    expect(await refuse(0, soughtBytes)).toBe('access-token-7')
    expect((await mint()).previous).toHaveLength(5)
  })

  it('ends its claim whatever went wrong, so that the next call may ask', async () => {
    const both = await setUp()
    const { clock, credential, secret } = both
    let isBroken = true
    const minter = createMinter({
      store,
      askFor: () => async (request) => {
        if (isBroken) throw new TypeError('of whatever kind')
        return both.provider.ask(request)
      },
      now: () => clock.ms,
      log,
      fault: noFault,
    })
    const mint = () => minter.tokenFor(credential, { parts: secret, tls: undefined }, 5_000)
    await expect(mint()).rejects.toBeInstanceOf(TypeError)
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({ claim: null, failures: 0 })
    isBroken = false
    expect(await textOf(mint())).toBe('access-token-2')
    expect(both.provider.seen).toEqual(['refresh-token-1'])
  })

  it('says that a refresh token may be spent, where whatever sent it failed in a way of its own', async () => {
    const both = await setUp()
    let isBroken = true
    const { mint } = replicaOf(both, {}, () => {
      if (isBroken) throw new TypeError('of whatever kind')
    })
    await expect(mint()).rejects.toMatchObject({ reason: 'token_no_answer' })
    expect(both.provider.seen).toEqual(['refresh-token-1'])
    isBroken = false
    both.clock.ms += 1_000
    await expect(mint()).rejects.toMatchObject({
      reason: 'token_refused',
      message: expect.stringContaining('An earlier exchange ended without an answer'),
    })
  })

  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
  const endpoint = { token_url: 'https://login.example.com/token', client_id: 'gateway' } as const
  const signed = { ...endpoint, client_authentication: 'private_key_jwt' } as const
  const clientKey = { type: 'oauth2_client_credentials', ...signed } as const
  const UNUSABLE: [string, CredentialKind, KeyObject][] = [
    ['that is too short for a GitHub App', { type: 'github_app', app_id: '1', installation_id: '2' }, short],
    ['that is too short for an assertion', { type: 'oauth2_jwt_bearer', issuer: 'robot' }, short],
    ['for RSA-PSS alone', { type: 'oauth2_jwt_bearer', issuer: 'robot', algorithm: 'PS256' }, pss],
    ['that is too short to say who asks', clientKey, short],
    ['for RSA-PSS alone to say who asks', { ...clientKey, key_algorithm: 'PS256' }, pss],
    ['on another curve to say who asks', { ...clientKey, key_algorithm: 'ES256' }, curve],
  ]
  it.each(UNUSABLE)('says so, and keeps no claim, for a stored key %s', async (_, kind, key) => {
    const given = new Map([
      ['private_key', new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString())],
    ])
    const { secret, settings } = completeParts(given, { kind }, { ports: [443] })
    await expect(checkSigningKey(settings, secret)).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining('this key cannot sign'),
    })
    const credential = { ...(await addCredential(store, accountId)), settings }
    const both = { ...(await setUp()), credential, secret }
    await expect(replicaOf(both).mint()).rejects.toMatchObject({
      code: 'credential_unavailable',
      reason: 'token_key_unusable',
    })
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({ claim: null, failures: 1 })
    expect(both.provider.seen).toEqual([])
  })

  it('stores nothing that can be read without the credential', async () => {
    const { mint } = await setUp()
    await mint()
    const rows = JSON.stringify(await place.query('SELECT * FROM minted_tokens'))
    expect(rows).toContain('ciphertext')
    expect(rows).not.toMatch(/access-token|refresh-token/)
  })
})

describe('two replicas', () => {
  afterEach(() => void vi.useRealTimers())
  const CLAIM_MS = 15_000

  it('send one refresh token where the answer to a claim comes when another has it', async () => {
    const both = await setUp()
    const isClaimed = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const slow = replicaOf(both, {
      store: {
        async claimMint(input) {
          const claimed = await store.claimMint(input)
          isClaimed.resolve()
          await answered.promise
          return claimed
        },
      },
    })
    const late = slow.mint()
    await isClaimed.promise
    both.clock.ms += CLAIM_MS + 1_000
    const atOnce = replicaOf(both, { sleep: async () => {} })
    expect(await textOf(atOnce.mint())).toBe('access-token-2')
    answered.resolve()
    expect(await textOf(late)).toBe('access-token-2')
    expect(both.provider.seen).toEqual(['refresh-token-1'])
  })

  it('send nothing for a claim whose renewal took too long, and claim anew', async () => {
    const both = await setUp()
    const renewals: string[] = []
    const { mint } = replicaOf(both, {
      store: {
        async renewMintClaim(input) {
          renewals.push(input.claim)
          if (renewals.length === 1) both.clock.ms += CLAIM_MS
          return store.renewMintClaim(input)
        },
      },
    })
    expect(await textOf(mint())).toBe('access-token-2')
    expect(new Set(renewals).size).toBe(2)
    expect(both.provider.seen).toEqual(['refresh-token-1'])
  })

  it('offer no old refresh token while one of them has a new one that the store did not take yet', async () => {
    const both = await setUp()
    let isStoreAway = true
    const isRefused = Promise.withResolvers<void>()
    const one = replicaOf(both, {
      store: {
        async saveMintedTokens(input) {
          if (!isStoreAway) return store.saveMintedTokens(input)
          isRefused.resolve()
          throw new Error('the store is away')
        },
      },
    })
    const first = one.mint()
    await isRefused.promise
    both.clock.ms += CLAIM_MS
    const waits: number[] = []
    const other = replicaOf(both, {
      async sleep(ms) {
        waits.push(ms)
        isStoreAway = false
        await first
      },
    })
    expect(await textOf(other.mint())).toBe('access-token-2')
    expect(waits[0]).toBeGreaterThan(2_000)
    expect(both.provider.seen).toEqual(['refresh-token-1'])
  })

  it('keep the refresh token of a secret only once the newest is stored, however long its claim has lapsed', async () => {
    const both = await setUp()
    const { credential, secret, clock } = both
    const { id, version } = credential
    const { sealed } = (await store.getCredential(id, accountId)) ?? credential
    const kept: string[] = []
    const rotate = () =>
      replaceSecret(
        {
          store,
          vault: {
            open: async () => joinParts(secret, credential.settings),
            seal: async () => sealed,
          } as unknown as Vault,
          now: () => clock.ms,
        },
        { ...credential, sealed },
        (token) => {
          kept.push(token.use((text) => text))
          return joinParts(new Map(secret).set('refresh_token', token), credential.settings)
        },
      )
    let isStoreAway = true
    const isRefused = Promise.withResolvers<void>()
    const isBack = Promise.withResolvers<void>()
    const one = replicaOf(both, {
      store: {
        async saveMintedTokens(input) {
          if (!isStoreAway) return store.saveMintedTokens(input)
          isRefused.resolve()
          throw new Error('the store is away')
        },
      },
      sleep: () => isBack.promise,
    })
    const first = one.mint()
    await isRefused.promise
    clock.ms += CLAIM_MS + 500_000
    await expect(rotate()).rejects.toMatchObject({ code: 'state_conflict', reason: 'minting' })
    isStoreAway = false
    isBack.resolve()
    expect(await textOf(first)).toBe('access-token-2')
    expect(await rotate()).toBe(true)
    expect(kept).toEqual(['refresh-token-2'])
    expect(await store.getCredential(id, accountId)).toMatchObject({ version: version + 1 })
  })

  it.each(['the answer is awaited', 'it cannot be stored'])('keep a claim while %s', async (until) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const both = await setUp()
    const { credential, clock, provider } = both
    const answered = Promise.withResolvers<void>()
    let isStoreAway = true
    let renewed = Promise.withResolvers<void>()
    if (until === 'the answer is awaited') provider.hold(answered.promise)
    const one = replicaOf(both, {
      store: {
        async renewMintClaim(input) {
          const isRenewed = await store.renewMintClaim(input)
          renewed.resolve()
          return isRenewed
        },
        async saveMintedTokens(input) {
          if (!isStoreAway) return store.saveMintedTokens(input)
          throw new Error('the store is away')
        },
      },
    })
    const first = one.mint()
    await renewed.promise
    for (let i = 0; i < 6; i++) {
      renewed = Promise.withResolvers<void>()
      clock.ms += 5_000
      await vi.advanceTimersByTimeAsync(5_000)
      await renewed.promise
    }
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({
      claimedUntil: clock.ms + CLAIM_MS,
    })
    isStoreAway = false
    answered.resolve()
    expect(await textOf(first)).toBe('access-token-2')
    clock.ms += CLAIM_MS
    expect(await store.getMintedTokens(credential.id, accountId)).toMatchObject({ claim: null })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('wait for an answer that brings a refresh token longer than for one that can be had again', async () => {
    const timeouts: number[] = []
    const both = await setUp()
    const askFor: MinterParts['askFor'] = (_, { timeoutMs }) => {
      timeouts.push(timeoutMs)
      return both.provider.ask
    }
    await replicaOf(both, { askFor }).mint()
    const { secret, settings } = completeParts(
      new Map([['client_secret', new Secret('client-secret')]]),
      {
        kind: {
          type: 'oauth2_client_credentials',
          token_url: 'https://login.example.com/token',
          client_id: 'gateway',
        },
      },
      { ports: [443] },
    )
    const credential = { ...(await addCredential(store, accountId)), settings }
    await replicaOf({ ...both, credential, secret }, { askFor })
      .mint()
      .catch(() => {})
    expect(timeouts).toEqual([45_000, 10_000])
  })
})
