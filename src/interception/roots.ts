// The roots of an installation: made at the first use, kept as a document with the key sealed under the installation's derivation key, and
// followed by the next one before the old one ends, so that programs have time to learn to trust it.
import { createCipheriv, createDecipheriv, hash, type KeyObject, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'
import {
  createAuthority,
  createRoot,
  newPrivateKey,
  type CertificateAuthority,
  type Root,
} from './authority.ts'
import { exportPrivateKey, importPrivateKey } from './certificates.ts'

const DAY_MS = 86_400_000
const ROOT_MS = 3 * 365 * DAY_MS
/** How long the next root is published before it signs. */
const OVERLAP_MS = 60 * DAY_MS

const NONCE_BYTES = 12
const TAG_BYTES = 16

const KeptRoot = z.strictObject({
  common_name: z.string().min(1).max(64),
  certificate: z.string().max(4096),
  /** Milliseconds since the epoch. */
  not_after: z.int(),
  /** base64url of nonce, tag and ciphertext. */
  sealed_key: z.string().max(1024),
})
type KeptRoot = z.infer<typeof KeptRoot>
const KeptRoots = z.strictObject({ roots: z.array(KeptRoot).max(8) })

export const rootsDocument: DocumentKind<z.infer<typeof KeptRoots>> = {
  name: 'interception-roots',
  parse: (parsed) => KeptRoots.parse(parsed),
  initial: { roots: [] },
}

export interface InstallationAuthority extends CertificateAuthority {
  /** Makes the next root where it is time, and takes over what another replica made. Called at start and then once a day or more often. */
  renew(): Promise<void>
}

/**
 * A root whose key does not open (another derivation key, an edited document) is replaced: programs that trusted it have to fetch the new one.
 * @param parts.key seals the private keys; the same at every start of an installation
 */
export async function openInstallationAuthority(parts: {
  readonly documents: Pick<DocumentStore, 'read' | 'update'>
  readonly key: KeyObject
  readonly now: () => number
}): Promise<InstallationAuthority> {
  const { documents, key, now } = parts
  let roots: readonly Root[] = []

  async function renew(): Promise<void> {
    const kept = await keptAt(now())
    roots = kept.flatMap((one) => openRoot(key, one) ?? [])
  }

  async function keptAt(at: number): Promise<readonly KeptRoot[]> {
    const { value } = await documents.read(rootsDocument)
    const isGood = (one: KeptRoot) => one.not_after > at && openRoot(key, one) !== undefined
    const good = value.roots.filter(isGood)
    if (good.some(({ not_after }) => not_after > at + OVERLAP_MS)) return good
    try {
      const written = await documents.update(rootsDocument, (current) => {
        const rest = current.roots.filter(isGood)
        // Another replica may have been first.
        if (rest.some(({ not_after }) => not_after > at + OVERLAP_MS)) return { roots: rest }
        return { roots: [...rest, makeRoot(key, at)] }
      })
      return written.roots
    } catch {
      // Another replica wrote at the same moment: what it wrote is what counts.
      return (await documents.read(rootsDocument)).value.roots.filter(isGood)
    }
  }

  await renew()
  return { ...createAuthority(() => roots, now), renew }
}

function makeRoot(key: KeyObject, at: number): KeptRoot {
  const privateKey = newPrivateKey()
  const name = `Agent Gateway ${new Date(at).toISOString().slice(0, 10)} ${randomBytes(4).toString('hex')}`
  const { certificate, notAfter } = createRoot(name, privateKey, at, ROOT_MS)
  const root = { common_name: name, certificate, not_after: notAfter }
  return { ...root, sealed_key: sealKey(key, root, exportPrivateKey(privateKey)) }
}

/** The key belongs to one certificate under one name until one day: a document that says otherwise opens nothing. */
const boundTo = ({ common_name, certificate, not_after }: Omit<KeptRoot, 'sealed_key'>) =>
  hash('sha256', JSON.stringify(['interception root', common_name, certificate, not_after]), 'buffer')

function sealKey(key: KeyObject, root: Omit<KeptRoot, 'sealed_key'>, privateKey: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(root))
  const text = Buffer.concat([cipher.update(privateKey, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
}

/** @returns undefined where this installation did not seal it, or somebody changed what stands beside it */
function openRoot(key: KeyObject, root: KeptRoot): Root | undefined {
  const bytes = Buffer.from(root.sealed_key, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(boundTo(root))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    const issuer = { commonName: root.common_name, privateKey: importPrivateKey(text.toString('utf8')) }
    return { issuer, certificate: root.certificate, notAfter: root.not_after }
  } catch {
    return undefined
  }
}
