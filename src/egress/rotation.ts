// Rotation of the wrapping authority: new key, publish, re-wrap every record key, retire, forget the old one.
// Secrets stay sealed throughout, and requests go on: an old wrap opens until it has become a new one.
import type { SealGate } from './sealing.ts'
import { GatewayError } from '../core/errors.ts'
import type { Store } from '../store/ports.ts'
import { bindingOf } from './sealing.ts'
import { wrapBinding } from './envelope.ts'
import type { Authority } from './ports.ts'

const SAMPLED_WRAPS = 100

/** The authority keys that stored records need; of a sample, the oldest. */
export async function listSealingKeys(store: Pick<Store, 'listWrapsNotUnder'>): Promise<readonly string[]> {
  const wraps = await store.listWrapsNotUnder('', SAMPLED_WRAPS)
  return [...new Set(wraps.map(({ wrap }) => wrap.kid))]
}

/** The current wrapping key, in the key document. Done at every start: it costs one read when nothing changed. */
export async function publishAuthority(parts: {
  store: Pick<Store, 'publishKey' | 'listPublishedKeys'>
  authority: Pick<Authority, 'current'>
  now: () => number
}): Promise<void> {
  const { store, authority, now } = parts
  const { kid, publicJwk } = authority.current()
  const published = await store.listPublishedKeys()
  if (published.some((key) => key.kid === kid)) return
  await store.publishKey({
    kid,
    purpose: 'wrap',
    jwk: JSON.stringify({ ...publicJwk, kid, use: 'enc' }),
    notBefore: now(),
    retiredAt: null,
  })
}

export interface RotationParts {
  readonly store: Store
  readonly authority: Authority
  readonly seals: SealGate
  readonly now: () => number
}

const BATCH = 100

/** @throws {GatewayError} state_conflict when a record could not be re-wrapped: then no old key is forgotten */
export async function rotateAuthority(
  parts: RotationParts,
): Promise<{ kid: string; retired: string[]; rewrapped: number }> {
  const { store, authority, seals, now } = parts
  const { kid, previous } = await authority.rotate()
  await publishAuthority(parts)
  await seals.settled()
  let rewrapped = await rewrapAll(parts, kid)
  for (const old of previous) await store.retireKey(old, now())
  // Another replica may have wrapped under the old key until it saw the retirement.
  rewrapped += await rewrapAll(parts, kid)
  await authority.drop(previous)
  return { kid, retired: [...previous], rewrapped }
}

async function rewrapAll({ store, authority }: RotationParts, kid: string): Promise<number> {
  const broken = new Set<string>()
  let rewrapped = 0
  for (;;) {
    const rows = await store.listWrapsNotUnder(kid, BATCH + broken.size)
    const pending = rows.filter(({ id }) => !broken.has(id))
    if (pending.length === 0) break
    for (const { id, accountId, version, wrap } of pending) {
      const credential = await store.getCredential(id, accountId)
      if (!credential) broken.add(id)
      // Rotated between the two reads: its new wrap comes with the next batch, if it needs one at all.
      if (credential?.version !== version) continue
      try {
        const to = await authority.rewrap(wrap, wrapBinding(bindingOf(credential)))
        if (await store.replaceWrap({ id, version, from: wrap, to })) rewrapped++
      } catch (thrown) {
        if (thrown instanceof GatewayError) throw thrown
        broken.add(id)
      }
    }
  }
  if (broken.size === 0) return rewrapped
  throw new GatewayError(
    'state_conflict',
    `The new key is in use and ${rewrapped} record keys were re-wrapped, but ${broken.size} could not be opened with ` +
      'any key this gateway has. The old keys are kept. Replace or revoke those credentials, then rotate again.',
    { extras: { credential_ids: [...broken].slice(0, 20) } },
  )
}
