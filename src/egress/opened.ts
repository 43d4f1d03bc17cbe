// Credentials in use: the secret, opened, and the leak gate made of it. Opening costs as much as the rest of an attempt,
// and preparing a gate ten times what searching a small response with it does. A gate is the secret in forty disguises,
// so the secret itself beside it gives nothing more away; neither is kept for long.
import type { Secret } from '../secret.ts'
import type { SealedCredential } from '../store/ports.ts'
import { bindingOf } from './credentials.ts'
import type { createLeakGate, LeakGate } from './leak-gate.ts'
import type { Vault } from './ports.ts'

/** From when it was opened, however often it is used meanwhile. */
const LIFETIME_MS = 2_000
const MAX_KEPT = 256

export interface OpenedCredential {
  readonly secret: Secret<string>
  /** Made when the first response is there to be searched. */
  gate(): LeakGate
}

export interface OpenedParts {
  readonly vault: Pick<Vault, 'open'>
  readonly createLeakGate: typeof createLeakGate
}

/** @returns opens a credential; throws as the vault does when a column of the row is not what was sealed */
export function createOpenedCredentials(
  parts: OpenedParts,
): (credential: SealedCredential) => Promise<OpenedCredential> {
  const kept = new Map<string, OpenedCredential>()
  return async (credential) => {
    // The row is read for every attempt: what was revoked, rotated, re-wrapped or tampered with is opened anew, or fails to.
    const key = keyOf(credential)
    const known = kept.get(key)
    if (known) return known
    const secret = await parts.vault.open(credential.sealed, bindingOf(credential))
    let gate: LeakGate | undefined
    const opened: OpenedCredential = {
      secret,
      gate: () => (gate ??= parts.createLeakGate(secret, credential)),
    }
    if (kept.size < MAX_KEPT) {
      kept.set(key, opened)
      setTimeout(() => kept.delete(key), LIFETIME_MS).unref()
    }
    return opened
  }
}

/** Every column that the seal covers, and the seal. */
function keyOf(credential: SealedCredential): string {
  const { sealed, scope } = credential
  const { ciphertext, iv, tag, wrap } = sealed
  return [
    credential.id,
    credential.accountId,
    credential.provider,
    credential.version,
    credential.header,
    credential.scheme,
    scope.hosts.join(' '),
    scope.path_prefixes.join(' '),
    scope.methods.join(' '),
    ciphertext,
    iv,
    tag,
    wrap.kid,
    wrap.enc,
    wrap.wrapped,
  ].join('\n')
}
