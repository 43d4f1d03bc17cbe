// One token for everybody who needs it: kept sealed in the store, minted by one exchange at a time over all replicas, renewed before it
// expires. A new refresh token is stored before the access token beside it is used: a provider that replaces refresh tokens has
// forgotten the old one.
import type { Alerts } from '../../core/alerts.ts'
import { randomUUID } from 'node:crypto'
import type { Fault } from '../../lib/fault-points.ts'
import { digestCanonical } from '../../lib/canonical-json.ts'
import type { Logger } from '../../lib/log.ts'
import { Secret } from '../../lib/secret.ts'
import type { MintedRow, SealedCredential, Store } from '../../store/ports.ts'
import type { SecretParts, TlsIdentity } from '../ports.ts'
import { CLAIM_MS, ClaimLost, type ConfirmClaim, holdClaim } from './claim.ts'
import { exchange } from './exchange.ts'
import { ExchangeFailed, type FailureFacts, tokenUnavailable, waitAfter } from './failure.ts'
import { isSigning, type AskTokenEndpoint, type MintingKind } from './kind.ts'
import {
  LONGEST_LIFETIME_MS,
  previousTo,
  type RefusedToken,
  stillLiving,
  trustedFor,
} from './previous-tokens.ts'
import {
  createTokenSeal,
  isMinted,
  type KeptTokens,
  type PreviousToken,
  type TokenSeal,
} from './token-seal.ts'
import { exchangeMsOf, type Exchanging, REFRESH_EXCHANGE_MS } from './token-http.ts'
import { isSuccess } from './token-request.ts'
import { tokenUrlOf } from './token-url.ts'

/** The longest pause between two tries to store what an exchange gave. */
const LONGEST_SAVE_POLL_MS = 2_000
/** Long enough for a process that is there after all to store what it has. */
const INTERRUPTED_WAIT_MS = 3 * LONGEST_SAVE_POLL_MS
/** How long others wait for an exchange: a claim that lapsed, and one exchange of their own. */
const PATIENCE_MS = CLAIM_MS + INTERRUPTED_WAIT_MS + REFRESH_EXCHANGE_MS
const FIRST_POLL_MS = 25
const LONGEST_POLL_MS = 400
/** A token is not used in its last minute, nor in the last tenth of a short life: clocks differ, and requests take time. */
const SKEW_MS = 60_000
/** Where the provider does not say (RFC 6749, 5.1). */
const UNTOLD_LIFETIME_MS = 15 * 60_000
/** Whatever a provider says: a time that no store could hold would keep the token from being stored. */
const LONGEST_TOLD_MS = 365 * 24 * 3600_000
/** While the store takes nothing, the only copy of a new refresh token is in this process. */
export const SAVE_FOR_MS = 10 * 60_000

export interface MinterParts {
  readonly store: Pick<
    Store,
    | 'getMintedTokens'
    | 'claimMint'
    | 'renewMintClaim'
    | 'saveMintedTokens'
    | 'endMintClaim'
    | 'distrustMintedTokens'
  >
  readonly askFor: (credential: SealedCredential, exchanging: Exchanging) => AskTokenEndpoint
  readonly now: () => number
  /** For tests. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined
  readonly log: Logger
  readonly fault: Fault
  /** People are told of what needs them. */
  readonly alerts?: Alerts | undefined
}

/** A token in use, and what else an answer must not hold. */
export interface Minted {
  readonly accessToken: Secret<string>
  readonly refreshToken: Secret<string> | undefined
  /** Tokens before this one that may still live. */
  readonly previous: readonly PreviousToken[]
  readonly generation: number
}

export interface OpenedForMinting {
  readonly parts: SecretParts
  readonly tls: TlsIdentity | undefined
}

export interface Minter {
  /**
   * @param withinMs how long this caller waits; the exchange goes on for others
   * @throws {GatewayError} credential_unavailable, saying what failed and who can mend it
   */
  tokenFor(credential: SealedCredential, opened: OpenedForMinting, withinMs: number): Promise<Minted>
  /**
   * The upstream refused the token: the next request mints another, unless this one is too young to be worn out, or there is no room for
   * another to be searched for.
   */
  distrust(credential: SealedCredential, refused: RefusedToken & Pick<Minted, 'generation'>): Promise<void>
  /** For the end of the process: nobody is waited for any more, and it resolves when every exchange that was begun is stored. */
  settled(): Promise<void>
}

interface Context {
  readonly credential: SealedCredential
  readonly parts: SecretParts
  readonly tls: TlsIdentity | undefined
  readonly kind: MintingKind
  readonly host: string
  readonly seal: TokenSeal
  /** Digest of what is asked for: a token that was minted for other scopes is not used. */
  readonly recipe: string
}

/** Mints tokens from stored credentials. */
export function createMinter(parts: MinterParts): Minter {
  const { store, now, log } = parts
  const flights = new Map<string, Promise<Minted>>()
  let isEnding = false

  function fly(context: Context): Promise<Minted> {
    const { credential, seal } = context
    const key = `${credential.id} ${credential.version} ${seal.keyId}`
    const known = flights.get(key)
    if (known) return known
    const flight = mint(parts, context, () => isEnding).finally(() => flights.delete(key))
    // Whoever asked may have stopped waiting.
    flight.catch(() => {})
    flights.set(key, flight)
    return flight
  }

  return {
    async tokenFor(credential, opened, withinMs) {
      const context = contextOf(credential, opened)
      const { host } = context
      try {
        const row = await store.getMintedTokens(credential.id, credential.accountId)
        const usable = readUsable(context, row, now())
        if (usable) return usable
        refuseWhileWaiting(context, row, now())
        return await within(fly(context), withinMs, host)
      } catch (thrown) {
        if (thrown instanceof ExchangeFailed)
          throw tokenUnavailable(thrown.facts, thrown.facts.retryAfterMs ?? 0, thrown)
        throw thrown
      }
    },

    async distrust({ id }, refused) {
      const { generation } = refused
      try {
        const at = now()
        const trustedMs = trustedFor(refused, at)
        if (trustedMs === undefined) {
          log.warn(
            { credential: id },
            'a refused token is kept until one before it ends: too much is searched for',
          )
          return
        }
        const mintedBefore = at - trustedMs
        if (await store.distrustMintedTokens({ credentialId: id, generation, mintedBefore }))
          log.info({ credential: id }, 'an upstream refused a minted token before its time')
      } catch (thrown) {
        log.error({ credential: id, err: thrown }, 'a refused token could not be marked')
      }
    },

    async settled() {
      isEnding = true
      while (flights.size > 0) await Promise.allSettled(flights.values())
    },
  }
}

function contextOf(credential: SealedCredential, { parts, tls }: OpenedForMinting): Context {
  const { kind } = credential.settings
  if (!kind || isSigning(kind)) throw new Error('no token is minted from this credential')
  return {
    credential,
    parts,
    tls,
    kind,
    host: tokenUrlOf(kind).hostname,
    seal: createTokenSeal(parts),
    recipe: digestCanonical(kind),
  }
}

/** @throws {ExchangeFailed} where the row is of this key and was changed */
function openRow({ seal, host }: Context, row: MintedRow | undefined): KeptTokens | undefined {
  if (!row?.sealed || row.keyId !== seal.keyId) return undefined
  try {
    return seal.open(row.sealed, row)
  } catch (thrown) {
    throw new ExchangeFailed({ host, reason: 'unreadable' }, thrown)
  }
}

function readUsable(context: Context, row: MintedRow | undefined, at: number): Minted | undefined {
  if (!row || (row.usableUntil ?? 0) <= at) return undefined
  const tokens = openRow(context, row)
  if (!tokens || !isMinted(tokens) || tokens.recipe !== context.recipe) return undefined
  return { ...tokens, previous: stillLiving(tokens.previous, at), generation: row.generation }
}

/** @throws {ExchangeFailed} the failure that is known, until the provider may be asked again or the credential was edited */
function refuseWhileWaiting(
  { seal, host, credential }: Context,
  row: MintedRow | undefined,
  at: number,
): void {
  if (!row || row.keyId !== seal.keyId || row.retryAt === null || row.retryAt <= at) return
  const { version = credential.version, ...facts } = readFailure(row) ?? { host, reason: 'unreachable' }
  if (version === credential.version) throw new ExchangeFailed({ ...facts, retryAfterMs: row.retryAt - at })
}

/** As the store has it. */
interface StoredFailure extends FailureFacts {
  /** Of the credential whose exchange failed; undefined in rows of earlier releases. */
  readonly version?: number
}

/** Only this process and its like write the column. */
function readFailure({ failure }: MintedRow): StoredFailure | undefined {
  if (failure === null) return undefined
  return JSON.parse(failure) as StoredFailure
}

/**
 * Waits until this process may ask, or somebody else has the token.
 * @param isEnding whether the process is about to end: it begins no exchange then
 */
async function mint(parts: MinterParts, context: Context, isEnding: () => boolean): Promise<Minted> {
  const { store, now, sleep = sleepFor } = parts
  const { credential, seal, host } = context
  const { id: credentialId, accountId, version } = credential
  const giveUpAt = now() + PATIENCE_MS
  let wasInterrupted = false
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LONGEST_POLL_MS, pollMs * 2)) {
    if (isEnding()) throw new ExchangeFailed({ host, reason: 'in_progress' })
    const at = now()
    const claim = randomUUID()
    const until = at + CLAIM_MS
    const { keyId } = seal
    const claimed = await store.claimMint({ credentialId, accountId, version, keyId, claim, now: at, until })
    if (claimed.outcome === 'changed') throw new ExchangeFailed({ host, reason: 'in_progress' })
    if (claimed.outcome === 'claimed') {
      if (claimed.isInterrupted) wasInterrupted = true
      try {
        return await holdClaim(parts, { credentialId, claim }, async (confirm) => {
          await waitForInterrupted(parts, context, claimed, confirm)
          // The claim of whoever was interrupted has not ended: it lapses, and the next one waits as well.
          if (claimed.isInterrupted && isEnding()) throw new ExchangeFailed({ host, reason: 'in_progress' })
          return exchangeOnce(parts, context, { ...claimed, isInterrupted: wasInterrupted, claim, confirm })
        })
      } catch (thrown) {
        if (!(thrown instanceof ClaimLost)) throw thrown
        await store.endMintClaim({ credentialId, claim, failed: null })
      }
    } else {
      const usable = readUsable(context, claimed.row, now())
      if (usable) return usable
    }
    if (now() >= giveUpAt) throw new ExchangeFailed({ host, reason: 'in_progress' })
    await sleep(pollMs)
  }
}

/**
 * Whoever was interrupted may have the new refresh token still, and no store that takes it: the old one is not offered before that was
 * stored. Its claim is lost to whoever stores something.
 */
async function waitForInterrupted(
  { sleep = sleepFor }: MinterParts,
  { kind }: Context,
  { isInterrupted }: { readonly isInterrupted: boolean },
  confirm: ConfirmClaim,
): Promise<void> {
  if (!isInterrupted || kind.type !== 'oauth2_refresh_token') return
  await sleep(INTERRUPTED_WAIT_MS)
  await confirm()
}

interface Claimed {
  readonly row: MintedRow
  readonly claim: string
  readonly confirm: ConfirmClaim
  readonly isInterrupted: boolean
}

async function exchangeOnce(parts: MinterParts, context: Context, claimed: Claimed): Promise<Minted> {
  const { store, now, fault } = parts
  const { credential, kind, recipe, seal, host } = context
  const { id: credentialId, accountId } = credential
  const { row, claim, confirm } = claimed
  const end = () => store.endMintClaim({ credentialId, claim, failed: null })
  const at = now()
  const usable = readUsable(context, row, at)
  if (usable) {
    await end()
    return usable
  }
  try {
    refuseWhileWaiting(context, row, at)
  } catch (thrown) {
    await end()
    throw thrown
  }

  let held: KeptTokens | undefined
  let answer: Awaited<ReturnType<typeof exchange>>
  try {
    held = openRow(context, row)
    await fault.at('before_exchange')
    const ask = parts.askFor(credential, { tls: context.tls, timeoutMs: exchangeMsOf(kind), confirm })
    answer = await exchange({ kind, parts: context.parts, refreshToken: held?.refreshToken, ask, now: at })
  } catch (thrown) {
    throw await recordFailure(parts, context, { ...claimed, held }, thrown)
  }
  await fault.at('after_exchange')

  const accessToken = new Secret(answer.accessToken)
  const refreshToken =
    answer.refreshToken === undefined ? held?.refreshToken : new Secret(answer.refreshToken)
  const toldMs = answer.lifetimeMs === undefined ? undefined : Math.min(answer.lifetimeMs, LONGEST_TOLD_MS)
  const lifetimeMs = toldMs ?? UNTOLD_LIFETIME_MS
  // Its life may have begun as late as now: it is used by the earlier end, and searched for until the later one.
  const expiresAt = now() + (toldMs ?? LONGEST_LIFETIME_MS)
  const previous = previousTo(held, at, { endIsTold: toldMs !== undefined })
  const generation = row.generation + 1
  const saved = await save(parts, {
    credentialId,
    accountId,
    keyId: seal.keyId,
    fromGeneration: row.generation,
    sealed: seal.seal(
      { accessToken, refreshToken, recipe, expiresAt, previous },
      { credentialId, accountId, generation },
    ),
    mintedAt: at,
    usableUntil: Math.floor(at + lifetimeMs - Math.min(SKEW_MS, lifetimeMs / 10)),
  })
  await fault.at('after_token_stored')
  if (saved) return { accessToken, refreshToken, previous, generation }
  // The credential was revoked, its secret was replaced, or another exchange was faster.
  const current = readUsable(context, await store.getMintedTokens(credentialId, accountId), now())
  if (current) return current
  throw new ExchangeFailed({ host, reason: 'in_progress' })
}

/** @returns what to throw; the failure is stored, so that no replica asks again before the provider may be asked */
async function recordFailure(
  parts: MinterParts,
  { credential, kind, recipe, seal }: Context,
  { row, claim, isInterrupted, held }: Claimed & { readonly held: KeptTokens | undefined },
  thrown: unknown,
): Promise<unknown> {
  const { store, now, log, alerts } = parts
  const { id: credentialId, accountId } = credential
  if (thrown instanceof ClaimLost) return thrown
  if (!(thrown instanceof ExchangeFailed)) {
    // Nothing was sent, or it would be a failure of the exchange (token-http.ts): whoever is next may ask.
    await store.endMintClaim({ credentialId, claim, failed: null })
    return thrown
  }
  const isSpending = kind.type === 'oauth2_refresh_token'
  const refreshToken = isSpending ? thrown.refreshToken : undefined
  const maybeSpent =
    isSpending &&
    !refreshToken &&
    (isInterrupted || mayHaveSpent(thrown.facts) || readFailure(row)?.maybeSpent === true)
  const facts = { ...thrown.facts, ...(maybeSpent && { maybeSpent }) }
  const waitMs = waitAfter(facts, row.failures)
  log.warn(
    { event: 'token_exchange_failed', credential: credentialId, ...thrown.facts },
    'no access token could be minted for a credential',
  )
  const at = now()
  const stored: StoredFailure = { ...facts, version: credential.version }
  const failed = { failure: JSON.stringify(stored), retryAt: at + waitMs }
  if (refreshToken) {
    const kept = {
      accessToken: undefined,
      refreshToken,
      recipe,
      expiresAt: undefined,
      previous: previousTo(held, at, { endIsTold: true }),
    }
    await save(parts, {
      credentialId,
      accountId,
      keyId: seal.keyId,
      fromGeneration: row.generation,
      sealed: seal.seal(kept, { credentialId, accountId, generation: row.generation + 1 }),
      mintedAt: row.mintedAt,
      usableUntil: row.usableUntil,
      failed,
    })
  } else await store.endMintClaim({ credentialId, claim, failed })
  // One that fails once may have met a bad moment: whoever is told has something to do.
  if (row.failures > 0 || isSpending)
    alerts?.tell({
      kind: 'refresh_failed',
      accountId,
      about: credentialId,
      data: { credential_id: credentialId, reason: facts.reason },
    })
  return new ExchangeFailed({ ...facts, retryAfterMs: waitMs }, thrown)
}

/** Whether the provider may have forgotten the refresh token that it was sent, for one that nobody has. */
const mayHaveSpent = (facts: FailureFacts): boolean =>
  facts.reason === 'no_answer' || (facts.reason === 'malformed' && isSuccess(facts))

/** Tries until the store takes it: after the exchange, the old refresh token may be worth nothing. */
async function save(
  { store, now, log, sleep = sleepFor }: MinterParts,
  tokens: Parameters<Store['saveMintedTokens']>[0],
): Promise<MintedRow | undefined> {
  const giveUpAt = now() + SAVE_FOR_MS
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LONGEST_SAVE_POLL_MS, pollMs * 2)) {
    try {
      return await store.saveMintedTokens(tokens)
    } catch (thrown) {
      log.error({ credential: tokens.credentialId, err: thrown }, 'a minted token could not be stored yet')
      if (now() >= giveUpAt) throw thrown
      await sleep(pollMs)
    }
  }
}

const sleepFor = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function within<T>(flight: Promise<T>, ms: number, host: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new ExchangeFailed({ host, reason: 'in_progress' })), ms)
  try {
    return await Promise.race([flight, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
