// The installation's signing key and the signer over it. Synchronous: a signature takes less time than handing it to a thread.
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomUUID,
  verify,
} from 'node:crypto'
import { link, open, readFile, stat, unlink } from 'node:fs/promises'
import { ConfigError } from '../../core/errors.ts'
import { digestCanonical, toCanonicalJson } from '../../lib/canonical-json.ts'
import type { Environment, Signer } from '../ports.ts'
import { ATTESTATIONS } from '../types.ts'
import type { Store } from '../../store/ports.ts'
import { createSign, type OkpKey } from '../ed25519.ts'

/** A signer that also yields keys for uses inside the gateway, each bound to its purpose. */
export interface InstallationSigner extends Signer {
  /** HKDF-SHA256 from the private key: the same installation, the same key; another purpose, another key. */
  deriveKey(purpose: string): KeyObject
  /** The payload of a document this installation signed with its current key; undefined for anything else. */
  verifyOwn(jws: string, typ: string): Readonly<Record<string, unknown>> | undefined
}

/** Ed25519 key file (JWK, 0600), generated when absent; its public half is published through the store. */
export async function openSigner(options: {
  file: string
  store: Pick<Store, 'publishKey' | 'listPublishedKeys'>
  now: () => number
  environment: Environment
}): Promise<InstallationSigner> {
  const { file, store, now, environment } = options
  const jwk = (await readKey(file)) ?? (await generateKey(file))
  const { kty, crv, x } = jwk
  // RFC 7638 thumbprint: its JSON is canonical.
  const kid = digestCanonical({ crv, kty, x })
  const published = await store.listPublishedKeys()
  if (!published.some((key) => key.kid === kid))
    await store.publishKey({
      kid,
      purpose: 'sign',
      jwk: JSON.stringify({ kty, crv, x, kid, use: 'sig', alg: 'EdDSA' }),
      notBefore: now(),
      retiredAt: null,
    })
  return createSigner(jwk, kid, environment)
}

function createSigner(jwk: OkpKey, kid: string, environment: Environment): InstallationSigner {
  const sign = createSign(jwk)
  const publicKey = createPublicKey(createPrivateKey({ key: { ...jwk }, format: 'jwk' }))
  return {
    kid,
    environment,
    verifyOwn(jws, typ) {
      const [head, body, signature, ...rest] = jws.split('.')
      if (head !== encode({ alg: 'EdDSA', kid, typ }) || !body || !signature || rest.length > 0)
        return undefined
      if (!verify(null, Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url')))
        return undefined
      return JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Record<string, unknown>
    },
    sign(typ, payload, as = kid) {
      const told = ATTESTATIONS.has(typ) ? withEnvironment(payload, environment) : payload
      const signed = `${encode({ alg: 'EdDSA', kid: as, typ })}.${encode(told)}`
      return `${signed}.${sign(signed)}`
    },
    deriveKey(purpose) {
      const bytes = hkdfSync('sha256', Buffer.from(jwk.d, 'base64url'), '', `agent-gateway ${purpose}`, 32)
      return createSecretKey(Buffer.from(bytes))
    },
  }
}

/** A production gateway may say `test` of a test network; of what a sandbox makes there is nothing else to say. */
const withEnvironment = (payload: Readonly<Record<string, unknown>>, environment: Environment) =>
  environment === 'sandbox' || payload['environment'] === undefined ? { ...payload, environment } : payload

const encode = (document: unknown) => Buffer.from(toCanonicalJson(document)).toString('base64url')

async function readKey(file: string): Promise<OkpKey | undefined> {
  let text: string
  try {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0)
      throw new ConfigError([`${file} holds the signing key: only its owner may read it (chmod 600 ${file})`])
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
  const jwk = parseKey(text)
  if (!jwk) throw new ConfigError([`${file} is not an Ed25519 private key (JWK): restore it from a backup`])
  return jwk
}

function parseKey(text: string): OkpKey | undefined {
  try {
    const jwk = JSON.parse(text) as OkpKey
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519') return undefined
    // The public half is recomputed: a file whose halves differ would sign what nobody can verify.
    const derived = createPrivateKey({ key: { ...jwk }, format: 'jwk' }).export({ format: 'jwk' })
    return derived.x === jwk.x ? jwk : undefined
  } catch {
    return undefined
  }
}

async function generateKey(file: string): Promise<OkpKey> {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const jwk = { kty, crv, x, d } as OkpKey
  const temporary = `${file}.${randomUUID()}.tmp`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(jwk)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    // link, not rename: whoever came first keeps the name, and both processes then use that key.
    await link(temporary, file)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  } finally {
    await unlink(temporary)
  }
  return (await readKey(file)) ?? jwk
}
