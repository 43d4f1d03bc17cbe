// How the secret of a credential is replaced: what it was is sealed beside the new one, with the tokens that were minted from it, so that
// answers are searched for all of them.
import type { Secret } from '../../lib/secret.ts'
import type { MintedRow, SealedCredential, Store } from '../../store/ports.ts'
import { KeyServiceError } from '../authority/key-service.ts'
import { notStored } from '../authority/service-authority.ts'
import { readSealedText, type Replaced, replaceSealedText } from '../leak/previous-secrets.ts'
import { secretParts, splitParts } from '../placement/parts.ts'
import type { Vault } from '../ports.ts'
import { privateTexts, withoutTlsParts } from '../reach/tls-identity.ts'
import { bindingOf } from '../sealing.ts'
import { isSigning } from './kind.ts'
import { livingTokens } from './living-tokens.ts'
import { sentParts } from './sent-parts.ts'

export interface ReplacingParts {
  readonly store: Pick<Store, 'getCredential' | 'getMintedTokens' | 'rotateCredential'>
  readonly vault: Vault
  readonly now: () => number
}

/** A token is minted every few minutes at most. */
const MOST_TRIES = 3

/**
 * Stores the next version.
 * @param text to be sealed, all parts in one
 * @returns false where somebody else changed or revoked the credential
 * @throws {GatewayError} where a key service is away
 */
export async function replaceSecret(
  parts: ReplacingParts,
  credential: SealedCredential,
  text: Secret<string>,
): Promise<boolean> {
  const { store, vault, now } = parts
  const { id, accountId, version: fromVersion, settings } = credential
  const isMinting = settings.kind !== undefined && !isSigning(settings.kind)
  for (let tries = MOST_TRIES; tries > 0; tries--) {
    const minted = isMinting ? await store.getMintedTokens(id, accountId) : undefined
    const replaced = await readReplaced(parts, credential, minted)
    const sealed = await vault.seal(
      replaced ? replaceSealedText(replaced, text, now()) : text,
      bindingOf({ ...credential, version: fromVersion + 1 }),
    )
    const mintedGeneration = isMinting ? (minted?.generation ?? null) : undefined
    if (await store.rotateCredential({ id, accountId, fromVersion, sealed, mintedGeneration, now: now() }))
      return true
    // A token that was minted in between has to be searched for as well.
    const current = isMinting ? await store.getCredential(id, accountId) : undefined
    if (current?.version !== fromVersion || current.revokedAt !== null) return false
  }
  return false
}

/** What does not open any more can be replaced all the same. */
async function readReplaced(
  { vault, now }: ReplacingParts,
  credential: SealedCredential,
  minted: MintedRow | undefined,
): Promise<Replaced | undefined> {
  const { settings } = credential
  try {
    const opened = await vault.open(credential.sealed, bindingOf(credential))
    const all = splitParts(opened, settings)
    return {
      before: readSealedText(opened),
      secrets: [...secretParts(sentParts(withoutTlsParts(all), settings), settings), ...privateTexts(all)],
      tokens: livingTokens(minted, all, now()),
    }
  } catch (thrown) {
    // A key service that is away is no reason to forget a secret which upstreams may still show.
    if (thrown instanceof KeyServiceError && thrown.reason !== 'refused') throw notStored(thrown)
    return undefined
  }
}
