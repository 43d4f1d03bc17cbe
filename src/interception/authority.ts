// An authority at work: one root signs, all leaves share one key. A key for each would cost more than the signature, and whoever reads one
// from this process could read them all.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createLeafCertificate, createRootCertificate, type Issuer } from './certificates.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Programs on machines whose clock is behind have to take a certificate of this moment. */
const BACKDATED_MS = HOUR_MS
/** How long a leaf is good; the proxy asks for another in the middle of it. */
export const LEAF_MS = 48 * HOUR_MS
/** Nothing follows the root of a run, whose program learns whom to trust once: longer than any run, since the key goes with the process anyway. */
const RUN_ROOT_MS = 397 * DAY_MS

export interface Root {
  readonly issuer: Issuer
  /** PEM. */
  readonly certificate: string
  /** Milliseconds since the epoch. */
  readonly notAfter: number
}

/** What a server needs to speak for a host. */
export interface Leaf {
  /** PEM; the root is left out, since whoever trusts it has it. */
  readonly certificate: string
  /** PEM, the same for every leaf of the process. */
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly notAfter: number
}

export interface CertificateAuthority {
  /** Every root that programs have to trust, in PEM, one after the other. */
  trusted(): string
  /** @param host a name in lower-case ASCII */
  issue(host: string): Leaf
}

export const newPrivateKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

/** @param lifeMs how long it is good from now on */
export function createRoot(commonName: string, privateKey: KeyObject, now: number, lifeMs: number): Root {
  const issuer = { commonName, privateKey }
  const notAfter = now + lifeMs
  const certificate = createRootCertificate(issuer, { notBefore: now - BACKDATED_MS, notAfter })
  return { issuer, certificate, notAfter }
}

/**
 * Issues with the first root whose life is longer than a leaf's, so that a program never sees one that outlives its root.
 * @param roots at least one, in the order in which they are used
 */
export function createAuthority(roots: () => readonly Root[], now: () => number): CertificateAuthority {
  const leafKey = newPrivateKey()
  const publicKey = createPublicKey(leafKey)
  const key = leafKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    trusted: () =>
      roots()
        .map(({ certificate }) => certificate)
        .join(''),
    issue(host) {
      const at = now()
      const all = roots()
      const root = all.find(({ notAfter }) => notAfter >= at + LEAF_MS) ?? all.at(-1)
      if (root === undefined || root.notAfter <= at)
        throw new Error('interception: there is no root that is good now')
      const notAfter = Math.min(at + LEAF_MS, root.notAfter)
      const certificate = createLeafCertificate(root.issuer, host, publicKey, {
        notBefore: at - BACKDATED_MS,
        notAfter,
      })
      return { certificate, key, notAfter }
    },
  }
}

/** The authority of one run: its key never leaves the process and is gone with it. */
export function createRunAuthority(now: () => number): CertificateAuthority {
  const roots = [createRoot('Agent Gateway, one run', newPrivateKey(), now(), RUN_ROOT_MS)]
  return createAuthority(() => roots, now)
}
