// The wrapping authority as a local key file: a JWK, or a JWK Set whose first key is the current one. Readable by its
// owner alone. A KMS or Vault implements the same interface without a file.
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { digestCanonical } from '../../lib/canonical-json.ts'
import { z } from 'zod'
import { ConfigError } from '../../core/errors.ts'
import type { WrappedKey } from '../../store/ports.ts'
import { OperatorJsonFault, parseOperatorJson } from '../../lib/operator-json.ts'
import { isPrivateFile } from '../../lib/private-file.ts'
import type { Logger } from '../../lib/log.ts'
import { KeyFileFault, notStoredHere } from '../authority/key-file-fault.ts'
import { decodeExactly } from '../envelope.ts'
import { exportPoint, openBase, sealBase } from '../hpke.ts'
import { type Authority, KeyNotReplaceable, type KnownKeys } from '../ports.ts'
import {
  createFile,
  describeUnreadable,
  PlaceNotWritable,
  replaceFile,
  tryReplacing,
  withFileLock,
} from '../../receipts/adapters/key-file.ts'

const PrivateJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string().optional(),
})
type PrivateJwk = z.infer<typeof PrivateJwk>
const KeyFile = z.union([PrivateJwk, z.object({ keys: z.array(PrivateJwk).min(1) })])

interface AuthorityKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly point: Buffer
  readonly jwk: PrivateJwk
}

const NOTHING_KNOWN: KnownKeys = {
  read: async () => ({ inUse: [], retired: [] }),
  listNeeded: async () => [],
}

const INFO = Buffer.from('agent-gateway record key v1')
const RECORD_KEY_BYTES = 32

export interface AuthorityOptions {
  readonly file: string
  readonly now: () => number
  /** Key ids that stored records are wrapped to: a file with none of them belongs to another installation. */
  readonly sealedTo?: readonly string[]
  /** What the store knows of wrapping keys. Left out: nothing, and whatever the file holds later is taken over. */
  readonly known?: KnownKeys
  readonly log?: Pick<Logger, 'error'>
}

/**
 * Opens the key file, generating it when it is absent and nothing is sealed yet.
 * @throws {ConfigError} saying what is wrong with the file, never what is in it
 */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { file, sealedTo = [], known = NOTHING_KNOWN, log } = options
  const refuseForeign = (why: string) =>
    new ConfigError([
      `GATEWAY_AUTHORITY_KEY_FILE: ${file} ${why}, and stored credentials are sealed to ${sealedTo.join(', ')}. ` +
        'Restore that key from your backup (replicas share one key file). If it is lost, so are the stored secrets: ' +
        'start with a new database and store them again',
    ])
  if ((await readIfPresent(file)) === undefined) {
    if (sealedTo.length > 0) throw refuseForeign('does not exist')
    await createFile(file, serialise([generateKey()]))
  }
  // The first key of a file is the current one.
  let keys = await load(file)
  const has = (kid: string) => keys.some((key) => key.kid === kid)
  if (sealedTo.length > 0 && !sealedTo.some(has)) throw refuseForeign('holds another key')
  const lost = [...new Set([...sealedTo, ...(await known.listNeeded())])].filter((kid) => !has(kid))
  if (lost.length > 0)
    log?.error(
      { keys: lost },
      `${file} lacks keys that stored credentials are sealed to: those do not open. Restore the keys from a backup`,
    )

  /**
   * What is on disk now, unless it lacks a key that this process has and the installation uses: that is an old copy, or another
   * installation's file. The keys in memory stay then.
   * @throws {KeyFileFault}
   */
  async function reload(): Promise<void> {
    const found = await loadAgain(file)
    const missing = keys.filter(({ kid }) => !found.some((key) => key.kid === kid))
    if (missing.length > 0) {
      const { inUse } = await known.read()
      const needed = missing.filter(({ kid }) => inUse.includes(kid)).map(({ kid }) => kid)
      if (needed.length > 0)
        throw new KeyFileFault(
          'authority_key',
          `GATEWAY_AUTHORITY_KEY_FILE: ${file} was replaced by a file without the key ${needed.join(', ')}, which is in use. ` +
            'This process goes on opening with the keys that it has, and stores nothing: put the file back',
        )
    }
    keys = found
  }
  /**
   * Whether what is sealed now can be opened by the other replicas, and what they sealed here.
   * @throws {KeyFileFault}
   */
  async function check(): Promise<void> {
    const unusable = await reload().then(
      () => undefined,
      (thrown: unknown) => {
        if (thrown instanceof KeyFileFault) return thrown
        throw thrown
      },
    )
    const { inUse, retired } = await known.read()
    const newest = inUse.at(-1)
    const isHere = newest !== undefined && has(newest)
    const isRetired = retired.includes(keys[0].kid)
    const lacks = (kid: string) =>
      new KeyFileFault(
        'authority_key',
        `GATEWAY_AUTHORITY_KEY_FILE: ${file} lacks the key ${kid}, which a rotation on another replica made: copy the file from there`,
        { lacksKey: !isHere, cause: unusable },
      )
    // A key that is not even in memory is the graver trouble of the two.
    if (newest !== undefined && !isHere && (await known.listNeeded()).includes(newest)) throw lacks(newest)
    if (isRetired && !isHere) throw lacks(newest ?? 'in use')
    if (unusable) throw unusable
    if (isRetired) throw lacks(newest ?? 'in use')
  }
  async function find(kid: string): Promise<AuthorityKey> {
    const ours = keys.find((key) => key.kid === kid)
    if (ours) return ours
    // Another replica may have rotated the shared file.
    await reload()
    const found = keys.find((key) => key.kid === kid)
    if (!found)
      throw new KeyFileFault(
        'authority_key',
        `GATEWAY_AUTHORITY_KEY_FILE: a record is wrapped to the key ${kid}, that is not in the key file ${file}. Where another ` +
          'replica has it, copy the file from there; else restore it from a backup',
      )
    return found
  }
  async function unwrap(wrap: WrappedKey, binding: Buffer): Promise<Buffer> {
    const parts = {
      enc: decodeExactly(wrap.enc),
      ciphertext: decodeExactly(wrap.wrapped),
      info: INFO,
      aad: bind(wrap.kid, binding),
    }
    const recordKey = openBase(await find(wrap.kid), parts)
    if (recordKey.length !== RECORD_KEY_BYTES) throw new Error('authority: not a record key')
    return recordKey
  }
  function wrapToCurrent(recordKey: Buffer, binding: Buffer): WrappedKey {
    const { kid, publicKey } = keys[0]
    const sealed = sealBase(publicKey, { info: INFO, aad: bind(kid, binding), plaintext: recordKey })
    return {
      kid,
      enc: sealed.enc.toString('base64url'),
      wrapped: sealed.ciphertext.toString('base64url'),
    }
  }

  return {
    current: () => ({ kid: keys[0].kid, publicJwk: publicJwk(keys[0]) }),
    reload,
    check,
    unwrap,
    async wrap(recordKey, binding) {
      // Wrapping is rare, and a key that another replica has retired must not be wrapped to again.
      await check().catch((thrown: unknown) => {
        throw thrown instanceof KeyFileFault ? notStoredHere(thrown) : thrown
      })
      return wrapToCurrent(recordKey, binding)
    },
    async rewrap(wrap, binding) {
      const recordKey = await unwrap(wrap, binding)
      const rewrapped = wrapToCurrent(recordKey, binding)
      recordKey.fill(0)
      return rewrapped
    },
    async rotate({ from } = {}) {
      const replacedAlready = async () => {
        await reload()
        const [current = '', ...others] = keys.map((key) => key.kid)
        return from !== undefined && current !== from ? { kid: current, previous: others } : undefined
      }
      // Whoever goes on with the rotation of another process may have nothing to write, and no right to.
      const made = await replacedAlready()
      if (made) return made
      return orNotReplaceable(file, () =>
        withFileLock(file, async () => {
          const madeMeanwhile = await replacedAlready()
          if (madeMeanwhile) return madeMeanwhile
          const previous = keys.map((key) => key.kid)
          const next = [generateKey(), ...keys.map((key) => key.jwk)]
          await replaceFile(file, serialise(next))
          await reload()
          return { kid: keys[0].kid, previous }
        }),
      )
    },
    checkReplaceable: () => orNotReplaceable(file, () => tryReplacing(file)),
    drop: (kids) =>
      withFileLock(file, async () => {
        await reload()
        const kept = keys.filter((key, i) => i === 0 || !kids.includes(key.kid))
        if (kept.length === keys.length) return
        await replaceFile(file, serialise(kept.map((key) => key.jwk)))
        await reload()
      }),
  }
}

/** @throws {KeyNotReplaceable} where the place of the file may not be written */
async function orNotReplaceable<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof PlaceNotWritable)) throw thrown
    throw new KeyNotReplaceable(
      'state_conflict',
      `The key in ${file} cannot be rotated in place, since this gateway may not write there. Nothing was changed. Where the file is mounted ` +
        'read-only, rotate on a gateway that has the file itself, or move to a key service (GATEWAY_AUTHORITY).',
      { cause: thrown, reason: 'key_not_replaceable' },
    )
  }
}

/** The kid joins the binding here, in the wrap layer alone, so that a re-wrap leaves the ciphertext as it is. */
function bind(kid: string, binding: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${kid}\n`), binding])
}

function publicJwk(key: AuthorityKey): Readonly<Record<string, unknown>> {
  const { kty, crv, x, y } = key.jwk
  return { kty, crv, x, y, kid: key.kid, use: 'enc', alg: 'HPKE-0' }
}

function generateKey(): PrivateJwk {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y, d } = PrivateJwk.parse(privateKey.export({ format: 'jwk' }))
  return { kty, crv, x, y, d, kid: thumbprint({ x, y }) }
}

/** RFC 7638. */
const thumbprint = ({ x, y }: { x: string; y: string }): string =>
  digestCanonical({ crv: 'P-256', kty: 'EC', x, y })

const serialise = (keys: readonly PrivateJwk[]) => `${JSON.stringify({ keys }, null, 2)}\n`

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw new ConfigError([`GATEWAY_AUTHORITY_KEY_FILE: ${describeUnreadable(file, thrown)}`])
  }
}

/** The keys of a file, of which there is at least one. */
type AuthorityKeys = readonly [AuthorityKey, ...AuthorityKey[]]

/** @throws {KeyFileFault} where what was opened once cannot be used any more */
async function loadAgain(file: string): Promise<AuthorityKeys> {
  try {
    return await load(file)
  } catch (thrown) {
    const why =
      thrown instanceof ConfigError
        ? thrown.problems.join('; ')
        : `GATEWAY_AUTHORITY_KEY_FILE: ${describeUnreadable(file, thrown)}`
    throw new KeyFileFault('authority_file', why, { cause: thrown })
  }
}

async function load(file: string): Promise<AuthorityKeys> {
  const text = await readIfPresent(file)
  const refuse = (why: string) => new ConfigError([`GATEWAY_AUTHORITY_KEY_FILE: ${file} ${why}`])
  if (text === undefined) throw refuse('is gone; restore it from your backup, or no stored credential opens')
  if (process.platform !== 'win32' && !isPrivateFile(await stat(file)))
    throw refuse(
      'can be read by other users; run `chmod 600` on it, and rotate the authority if it was exposed',
    )
  let parsed: z.infer<typeof KeyFile>
  try {
    parsed = KeyFile.parse(parseOperatorJson(text))
  } catch (thrown) {
    // Zod's words can quote the file.
    const why = thrown instanceof OperatorJsonFault ? `: it ${thrown.message}` : ''
    throw refuse(`is not a private P-256 JWK (kty EC) or a JWK Set of such keys${why}`)
  }
  const [current, ...others] = ('keys' in parsed ? parsed.keys : [parsed]).map(importKey)
  if (!current || !others.every((key) => key !== undefined))
    throw refuse('holds a key whose private half does not belong to its public half')
  return [current, ...others]
}

function importKey(jwk: PrivateJwk): AuthorityKey | undefined {
  try {
    const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
    const publicKey = createPublicKey(privateKey)
    // The point that the private scalar gives counts, not the one that the file claims.
    const claimed = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y }, format: 'jwk' })
    const key = {
      kid: jwk.kid ?? thumbprint(jwk),
      privateKey,
      publicKey: claimed,
      point: exportPoint(claimed),
      jwk,
    }
    return publicKey.equals(claimed) && worksTogether(key) ? key : undefined
  } catch {
    return undefined
  }
}

function worksTogether(key: { publicKey: KeyObject; privateKey: KeyObject; point: Buffer }): boolean {
  const plaintext = Buffer.from('round trip')
  const sealed = sealBase(key.publicKey, { info: INFO, aad: INFO, plaintext })
  return openBase(key, { ...sealed, info: INFO, aad: INFO }).equals(plaintext)
}
