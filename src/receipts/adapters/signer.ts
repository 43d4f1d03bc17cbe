// The signer of this installation: which key signs, and how another one takes its place while the gateway serves. Signing is
// synchronous: a signature takes less time than handing it to a thread.
//
// The order of a rotation lets it be cut anywhere: the new key is published, then it stands first in the file, then the old
// one is retired, then it leaves the file. So what signs is always published, and what was left undone is done at the next start.
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../../core/errors.ts'
import { type Fault, noFault } from '../../lib/fault-points.ts'
import type { PublishedKey, Store } from '../../store/ports.ts'
import { createSign, type Sign } from '../ed25519.ts'
import { createKeyRing, encode, type KeyRing } from '../key-ring.ts'
import type { Environment, Signer } from '../ports.ts'
import { ATTESTATIONS } from '../types.ts'
import { withFileLock } from './key-file.ts'
import {
  createSigningKey,
  generateSigningKey,
  readSigningKeys,
  replaceSigningKeys,
  type SigningKey,
} from './signing-key-file.ts'

/** Replicas read the published keys this often, so that they know a rotation without a restart. */
export const REFRESH_MS = 1_000
/** A new key signs only once every replica has read that it is published. */
const ANNOUNCE_MS = 2 * REFRESH_MS
/** Another replica may sign with the old key until it has heard, and its clock may be ahead. */
const GRACE_MS = 60_000
/** A lock that a dead process left is taken over after 30 s: a start waits for it. */
const LOCK_TRIES = 70
const LOCK_RETRY_MS = 500

export interface InstallationSigner extends Signer, Pick<KeyRing, 'verifyOwn' | 'find'> {
  /**
   * Signs a text that is no JWS, with the key that signs now. The text must not begin like the head of one (`eyJ`).
   * @returns base64, as Standard Webhooks has it
   */
  signText(text: string): { readonly kid: string; readonly signature: string }
  /** Reads the published keys; takes another key where this one was retired or revoked elsewhere. */
  refresh(): Promise<void>
  /**
   * A new key signs from now on; every other one that nobody has retired yet is, and stays published.
   * @param options.isUrgent does not wait until every replica knows the new key: the old one is in other hands
   * @throws {GatewayError} state_conflict while another process rotates
   */
  rotate(options?: { readonly isUrgent?: boolean }): Promise<{ readonly kid: string }>
  /** What the key signed until now stays valid; a replica that signs with it takes another one. */
  retire(kid: string): Promise<void>
  /** Nothing that the key signed verifies any more. The key that signs here is replaced first. */
  revoke(kid: string, reason: string): Promise<void>
}

type SignerCommands =
  'publishKey' | 'listPublishedKeys' | 'retireKey' | 'retireSigningKeysBut' | 'revokeSigningKey'

export interface SignerOptions {
  /** Ed25519 key file (JWK, 0600), generated when absent. */
  readonly file: string
  readonly store: Pick<Store, SignerCommands>
  readonly now: () => number
  readonly environment: Environment
  /** Whether other processes sign for this installation. */
  readonly hasReplicas?: boolean
  readonly fault?: Fault
}

/** @throws {ConfigError} when the file cannot be used */
export async function openSigner(options: SignerOptions): Promise<InstallationSigner> {
  const { file, store, now, environment, hasReplicas = false, fault = noFault } = options
  const ring = createKeyRing()
  const [first, ...replaced] = (await readSigningKeys(file)) ?? (await createSigningKey(file))
  let current = first
  let sign: Sign = createSign(first.jwk)

  function use(key: SigningKey): void {
    sign = createSign(key.jwk)
    current = key
  }
  async function load(): Promise<void> {
    const published = await store.listPublishedKeys()
    const isKnown = published.some(({ kid }) => kid === current.kid)
    ring.load(isKnown ? published : [...published, await publish(current)])
  }
  async function publish({ kid, jwk: { kty, crv, x } }: SigningKey): Promise<PublishedKey> {
    const jwk = JSON.stringify({ kty, crv, x, kid, use: 'sig', alg: 'EdDSA' })
    const key = { kid, purpose: 'sign', jwk, notBefore: now(), retiredAt: null } as const
    await store.publishKey(key)
    return { ...key, revokedAt: null, revocationReason: null }
  }
  const announce = () => (hasReplicas ? sleep(ANNOUNCE_MS) : undefined)
  const retirement = () => now() + (hasReplicas ? GRACE_MS : 0)
  const hasEnded = (kid: string) => {
    const { retiredAt = null, revokedAt = null } = ring.find(kid) ?? {}
    return retiredAt !== null || revokedAt !== null
  }

  async function refresh(): Promise<void> {
    await load()
    if (!hasEnded(current.kid)) return
    // Replicas that share the file find the key there that took this one's place; others make one of their own.
    const held = await readSigningKeys(file)
    if (held && !hasEnded(held[0].kid)) use(held[0])
    else await replaceEnded()
    await load()
  }

  async function replaceEnded(): Promise<void> {
    await withFileLock(file, async () => {
      const held = await readSigningKeys(file)
      if (held && !hasEnded(held[0].kid)) return use(held[0])
      const next = generateSigningKey()
      await publish(next)
      if (ring.find(current.kid)?.revokedAt === null) await announce()
      await replaceSigningKeys(file, [next])
      use(next)
    })
  }

  async function rotate({ isUrgent = false } = {}): Promise<{ kid: string }> {
    await withFileLock(file, async () => {
      const next = generateSigningKey()
      await publish(next)
      await fault.at('after_key_published')
      if (!isUrgent) await announce()
      const held = (await readSigningKeys(file)) ?? []
      await replaceSigningKeys(file, [next, ...held])
      use(next)
      await fault.at('after_key_switched')
      await store.retireSigningKeysBut(next.kid, retirement())
      await fault.at('after_key_retired')
      await replaceSigningKeys(file, [next])
    })
    await load()
    return { kid: current.kid }
  }

  async function finishRotation(): Promise<void> {
    if (replaced.length === 0) return
    for (const { kid } of replaced) await store.retireKey(kid, retirement())
    await withFileLock(file, () => replaceSigningKeys(file, [current])).catch((thrown: unknown) => {
      // The lock of the process that was cut: the next start finds the same file.
      if (!isBusy(thrown)) throw thrown
    })
  }

  await finishRotation()
  await untilFree(refresh)
  // One rotation at a time: a second one would retire the key that the first is about to use.
  let rotating: Promise<unknown> = Promise.resolve()
  function rotateInTurn(how?: { readonly isUrgent?: boolean }): Promise<{ kid: string }> {
    const rotated = rotating.then(() => rotate(how))
    rotating = rotated.catch(() => {})
    return rotated
  }
  return {
    get kid() {
      return current.kid
    },
    environment,
    sign(typ, payload, { did, jku, claims } = {}) {
      const { kid } = current
      const head = {
        ...claims,
        alg: 'EdDSA',
        kid: did === undefined ? kid : `${did}#${kid}`,
        typ,
        ...(jku !== undefined && { jku }),
      }
      const told = ATTESTATIONS.has(typ) ? withEnvironment(payload, environment) : payload
      const signed = `${encode(head)}.${encode(told)}`
      return `${signed}.${sign(signed)}`
    },
    signText(text) {
      if (text.startsWith('eyJ')) throw new Error('this text could be the head of a token')
      return { kid: current.kid, signature: Buffer.from(sign(text), 'base64url').toString('base64') }
    },
    verifyOwn: ring.verifyOwn,
    find: ring.find,
    refresh,
    rotate: rotateInTurn,
    async retire(kid) {
      await store.retireKey(kid, retirement())
      await load()
    },
    async revoke(kid, reason) {
      // First: what is signed from here on is to stay valid.
      if (kid === current.kid) await rotateInTurn({ isUrgent: true })
      await store.revokeSigningKey(kid, reason, now())
      await load()
    },
  }
}

/** A production gateway may say `test` of a test network; of what a sandbox makes there is nothing else to say. */
const withEnvironment = (payload: Readonly<Record<string, unknown>>, environment: Environment) =>
  environment === 'sandbox' || payload['environment'] === undefined ? { ...payload, environment } : payload

const isBusy = (thrown: unknown) => thrown instanceof GatewayError && thrown.code === 'state_conflict'

async function untilFree(work: () => Promise<void>): Promise<void> {
  for (let tries = LOCK_TRIES; ; tries--) {
    try {
      return await work()
    } catch (thrown) {
      if (!isBusy(thrown) || tries === 0) throw thrown
      await sleep(LOCK_RETRY_MS)
    }
  }
}
