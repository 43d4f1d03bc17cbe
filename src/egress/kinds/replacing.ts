// How the secret of a credential is replaced: what it was is sealed beside the new one, with the tokens that were minted from it, so that
// answers are searched for all of them.
import { GatewayError } from '../../core/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { MintedRow, SealedCredential, Store } from '../../store/ports.ts'
import { KeyServiceError } from '../authority/key-service.ts'
import { notStored } from '../authority/service-authority.ts'
import {
  readSealedText,
  type Replaced,
  replaceSealedText,
  type SealedText,
} from '../leak/previous-secrets.ts'
import { secretParts, splitParts } from '../placement/parts.ts'
import type { SecretParts, Vault } from '../ports.ts'
import { privateTexts, withoutTlsParts } from '../reach/tls-identity.ts'
import { bindingOf } from '../sealing.ts'
import { isSigning } from './kind.ts'
import { livingTokens, newestRefreshToken, refreshTokenUnread } from './living-tokens.ts'
import { SAVE_FOR_MS } from './minter.ts'
import { sentParts } from './sent-parts.ts'
import { REFRESH_EXCHANGE_MS } from './token-http.ts'

export interface ReplacingParts {
  readonly store: Pick<Store, 'getCredential' | 'getMintedTokens' | 'rotateCredential'>
  readonly vault: Vault
  readonly now: () => number
}

/** A token is minted every few minutes at most. */
const MOST_TRIES = 3
/** Whoever's claim on an exchange lapsed has nothing to store any more after this: it waited for an answer, and for a store that takes it. */
const GONE_AFTER_MS = REFRESH_EXCHANGE_MS + SAVE_FOR_MS

/**
 * Text to be sealed, all parts in one; made of the refresh token in use where that is to stay.
 * @throws {GatewayError} where the parts are not those of the credential
 */
export type NextText = Secret<string> | TextWithToken
type TextWithToken = (refreshToken: Secret<string>) => Secret<string>

/**
 * Stores the next version.
 * @returns false where somebody else changed or revoked the credential
 * @throws {GatewayError} where a key service is away; where the refresh token is to stay also state_conflict, while somebody may have another, and
 * credential_unavailable, where it does not open
 */
export async function replaceSecret(
  parts: ReplacingParts,
  credential: SealedCredential,
  text: NextText,
): Promise<boolean> {
  const { store, vault, now } = parts
  const { id, accountId, version: fromVersion, settings } = credential
  const isMinting = settings.kind !== undefined && !isSigning(settings.kind)
  const keepsToken = typeof text === 'function'
  for (let tries = MOST_TRIES; tries > 0; tries--) {
    const minted = isMinting ? await store.getMintedTokens(id, accountId) : undefined
    const goneIfLapsedBy = keepsToken ? now() - GONE_AFTER_MS : undefined
    if (goneIfLapsedBy !== undefined && mayBeReplaced(minted, goneIfLapsedBy)) throw mintingNow()
    const opened = await openParts(parts, credential)
    const { next, kept } =
      typeof text === 'function' ? keepToken(text, opened, minted) : { next: text, kept: undefined }
    const replaced = opened && replacedBy(opened, minted, kept, now())
    const sealed = await vault.seal(
      replaced ? replaceSealedText(replaced, next, now()) : next,
      bindingOf({ ...credential, version: fromVersion + 1 }),
    )
    const mintedGeneration = isMinting ? (minted?.generation ?? null) : undefined
    if (
      await store.rotateCredential({
        id,
        accountId,
        fromVersion,
        sealed,
        mintedGeneration,
        goneIfLapsedBy,
        now: now(),
      })
    )
      return true
    // A token that was minted in between has to be searched for as well.
    const current = isMinting ? await store.getCredential(id, accountId) : undefined
    if (current?.version !== fromVersion || current.revokedAt !== null) return false
  }
  return false
}

/** Whether somebody is asking the provider, or never said how that ended, and may have another refresh token that is not stored yet. */
const mayBeReplaced = (minted: MintedRow | undefined, goneIfLapsedBy: number) =>
  minted !== undefined && minted.claim !== null && (minted.claimedUntil ?? 0) > goneIfLapsedBy

const mintingNow = () =>
  new GatewayError(
    'state_conflict',
    'The provider is being asked for a token with this secret, or was, and how that ended is not stored yet: the refresh token that is to be kept may ' +
      'be another. Try again in a few seconds. Where whoever asked is gone, the next call with this credential settles it, or eleven minutes do; to ' +
      'wait for nobody, authorise again at the provider and send the new `refresh_token` with the other parts.',
    { reason: 'minting' },
  )

interface OpenedText {
  readonly before: SealedText
  readonly all: SecretParts
  /** What answers are searched for of them. */
  readonly secrets: readonly Secret<string>[]
}

/** @returns undefined for what does not open any more, which can be replaced all the same */
async function openParts(
  { vault }: ReplacingParts,
  credential: SealedCredential,
): Promise<OpenedText | undefined> {
  const { settings } = credential
  try {
    const opened = await vault.open(credential.sealed, bindingOf(credential))
    const all = splitParts(opened, settings)
    return {
      before: readSealedText(opened),
      all,
      secrets: [...secretParts(sentParts(withoutTlsParts(all), settings), settings), ...privateTexts(all)],
    }
  } catch (thrown) {
    // A key service that is away is no reason to forget a secret which upstreams may still show.
    if (thrown instanceof KeyServiceError && thrown.reason !== 'refused') throw notStored(thrown)
    return undefined
  }
}

function keepToken(text: TextWithToken, opened: OpenedText | undefined, minted: MintedRow | undefined) {
  if (!opened) throw refreshTokenUnread()
  const kept = newestRefreshToken(minted, opened.all)
  return { next: text(kept), kept }
}

/** @param kept is sought as a part of the secret that comes */
function replacedBy(
  { before, all, secrets }: OpenedText,
  minted: MintedRow | undefined,
  kept: Secret<string> | undefined,
  at: number,
): Replaced {
  const goes = (secret: Secret<string>) =>
    kept === undefined || kept.use((text) => secret.use((other) => other !== text))
  return {
    before,
    secrets: secrets.filter(goes),
    tokens: livingTokens(minted, all, at).filter(({ secret }) => goes(secret)),
  }
}
