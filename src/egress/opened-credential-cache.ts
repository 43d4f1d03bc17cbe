// Credentials in use: the secret, opened, and the leak gate made of it. Opening costs as much as the rest of an attempt,
// and preparing a gate ten times what searching a small response with it does. A gate is the secret in forty disguises,
// so the secret itself beside it gives nothing more away; neither is kept for long.
import { isDeepStrictEqual } from 'node:util'
import type { Secret } from '../lib/secret.ts'
import type { SealedCredential } from '../store/ports.ts'
import { bindingOf } from './sealing.ts'
import type { CreateLeakGate, LeakGate } from './leak/inspection.ts'
import { readSealedText, stillSought } from './leak/previous-secrets.ts'
import { bytesOfKeys } from './kinds/hmac.ts'
import { secretParts, splitParts } from './placement/parts.ts'
import type { SecretParts, TlsIdentity, Vault } from './ports.ts'
import {
  certificateEndOf,
  checkCertificateEnd,
  privateTexts,
  tlsIdentityOf,
  withoutTlsParts,
} from './reach/tls-identity.ts'

/** It runs from when the credential was opened, however often that is used meanwhile. */
const LIFETIME_MS = 2_000
const MAX_KEPT = 256
/** Requests under the last credential may still be under way when it is forgotten; most are done by then. */
const IDLE_MS = 1_000

export interface OpenedCredential {
  /** Those that go into a request. */
  readonly parts: SecretParts
  readonly tls: TlsIdentity | undefined
  /** What was before a rotation and may still live: never sent, only looked for. */
  readonly replaced: readonly Secret<string>[]
  /** Every part that is secret, and those. */
  readonly sought: readonly Secret<string>[]
  /** Looks for them. Made when the first response is there to be searched. */
  gate(): LeakGate
}

export interface OpenedParts {
  readonly vault: Pick<Vault, 'open'>
  /** Called once nothing has been open for a moment: texts that held a secret can go. */
  readonly onIdle?: () => void
  readonly createLeakGate: CreateLeakGate
  readonly now: () => number
}

export interface OpenedCredentials {
  /**
   * To send a request with. Answers from memory what was opened a moment ago from a row that says the same.
   * @throws as the vault does when a column of the row is not what was sealed
   * @throws {CertificateExpired}
   */
  open(credential: SealedCredential): Promise<OpenedCredential>
  /** The same to search an answer for, which goes on where a client certificate has ended. @throws as the vault does */
  openToSearch(credential: SealedCredential): Promise<OpenedCredential>
}

interface Entry {
  readonly row: SealedCredential
  readonly opened: OpenedCredential
  readonly certificateEndsAt: number | undefined
}

/** Keeps opened credentials for two seconds at most; the row is compared each time before one is used. */
export function createOpenedCredentials(parts: OpenedParts): OpenedCredentials {
  let idle: NodeJS.Timeout | undefined
  const kept = new Map<string, Entry>()

  // The row is read for every attempt: what was revoked, rotated, re-wrapped or tampered with is opened anew, or fails to.
  function recall(credential: SealedCredential): Entry | undefined {
    const known = kept.get(credential.id)
    return known && isSealedAlike(known.row, credential) ? known : undefined
  }

  function forget(id: string, entry: Entry): void {
    if (kept.get(id) !== entry) return
    kept.delete(id)
    if (kept.size > 0 || !parts.onIdle) return
    clearTimeout(idle)
    idle = setTimeout(() => kept.size === 0 && parts.onIdle?.(), IDLE_MS).unref()
  }

  async function openEntry(credential: SealedCredential): Promise<Entry> {
    const { settings } = credential
    const sealed = await parts.vault.open(credential.sealed, bindingOf(credential))
    const all = splitParts(sealed, settings)
    const secrets = withoutTlsParts(all)
    const { previous, tokens } = readSealedText(sealed)
    const replaced = stillSought([...previous, ...tokens], parts.now()).map(({ secret }) => secret)
    const sought = [
      ...secretParts(secrets, settings),
      ...privateTexts(all),
      ...replaced,
      ...(settings.kind?.type === 'hmac' ? bytesOfKeys(settings.kind, replaced) : []),
    ]
    const tls = tlsIdentityOf(settings, all)
    let gate: LeakGate | undefined
    const opened: OpenedCredential = {
      parts: secrets,
      tls,
      replaced,
      sought,
      gate: () => (gate ??= parts.createLeakGate(sought, credential)),
    }
    const { id } = credential
    const entry = { row: credential, opened, certificateEndsAt: certificateEndOf(tls) }
    if (kept.size < MAX_KEPT || kept.has(id)) {
      kept.set(id, entry)
      setTimeout(() => forget(id, entry), LIFETIME_MS).unref()
    }
    return entry
  }

  const entryOf = async (credential: SealedCredential) => recall(credential) ?? (await openEntry(credential))

  return {
    async open(credential) {
      const { opened, certificateEndsAt } = await entryOf(credential)
      checkCertificateEnd(certificateEndsAt, parts.now())
      return opened
    },
    openToSearch: async (credential) => (await entryOf(credential)).opened,
  }
}

/** Every column that the seal covers, and the seal. */
function isSealedAlike(a: SealedCredential, b: SealedCredential): boolean {
  return (
    a.id === b.id &&
    a.accountId === b.accountId &&
    a.provider === b.provider &&
    a.version === b.version &&
    a.header === b.header &&
    a.scheme === b.scheme &&
    (a.settings === b.settings || isDeepStrictEqual(a.settings, b.settings)) &&
    isSameList(a.scope.hosts, b.scope.hosts) &&
    isSameList(a.scope.path_prefixes, b.scope.path_prefixes) &&
    isSameList(a.scope.methods, b.scope.methods) &&
    a.sealed.ciphertext === b.sealed.ciphertext &&
    a.sealed.iv === b.sealed.iv &&
    a.sealed.tag === b.sealed.tag &&
    a.sealed.wrap.kid === b.sealed.wrap.kid &&
    a.sealed.wrap.enc === b.sealed.wrap.enc &&
    a.sealed.wrap.wrapped === b.sealed.wrap.wrapped
  )
}

const isSameList = (a: readonly string[], b: readonly string[]) =>
  a === b || (a.length === b.length && a.every((entry, i) => entry === b[i]))
