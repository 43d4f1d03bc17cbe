// A key service as the wrapping authority. The key id and everything the record is bound to are authenticated by the service, as a
// digest: services write what they authenticate to their logs.
import { hash } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { WrappedKey } from '../../store/ports.ts'
import { decodeExactly } from '../envelope.ts'
import type { OwningAuthority } from './joined.ts'
import { KeyServiceError, type KeyService } from './key-service.ts'

const RECORD_KEY_BYTES = 32
/** Where a record key lies without an encapsulated key beside it. */
const NO_ENC = ''

/**
 * Asks the service for its newest version once, so that a start with a wrong name or without permission fails there and then.
 * @throws {KeyServiceError}
 */
export async function openServiceAuthority(service: KeyService): Promise<OwningAuthority> {
  let current = await service.newest()
  const aadOf = (kid: string, binding: Buffer) =>
    hash('sha256', Buffer.concat([Buffer.from(`${kid}\n`), binding]), 'buffer')

  async function wrap(recordKey: Buffer, binding: Buffer) {
    // Wrapping is rare, and a version that was replaced must not be wrapped to again.
    current = await service.newest()
    const kid = current
    const sealed = await service.encrypt(kid, recordKey, aadOf(kid, binding))
    const wrap = { kid, enc: NO_ENC, wrapped: sealed.toString('base64url') }
    await checkOpens(wrap, binding, recordKey)
    return wrap
  }
  /**
   * The wrap may take the place of the only one that opens the record, so it is opened once before it does. A permission to encrypt is
   * none to decrypt, and an answer may hold anything.
   * @throws {KeyServiceError}
   */
  async function checkOpens(wrap: WrappedKey, binding: Buffer, recordKey: Buffer): Promise<void> {
    const opened = await unwrap(wrap, binding).catch((thrown: unknown) => {
      throw thrown instanceof KeyServiceError && thrown.reason === 'refused' ? unopened() : thrown
    })
    const isSame = opened.equals(recordKey)
    opened.fill(0)
    if (!isSame) throw unopened()
  }
  // The service, and not a record, is at fault.
  const unopened = () =>
    new KeyServiceError('unreachable', service.name, 'what it encrypted does not open as what it was')
  async function unwrap({ kid, enc, wrapped }: WrappedKey, binding: Buffer) {
    // The id is a column: with another key of the same service, a stranger's record would open.
    if (!service.owns(kid) || enc !== NO_ENC)
      throw new KeyServiceError('refused', service.name, 'the record names another key')
    // No cipher makes fewer bytes of a key: a service that is asked to decrypt none may answer with anything.
    const sealed = decodeExactly(wrapped)
    if (sealed.length < RECORD_KEY_BYTES)
      throw new KeyServiceError('refused', service.name, 'an empty ciphertext')
    const recordKey = await service.decrypt(kid, sealed, aadOf(kid, binding))
    if (recordKey.length !== RECORD_KEY_BYTES)
      throw new KeyServiceError('refused', service.name, 'not a record key')
    return recordKey
  }

  return {
    owns: (kid) => service.owns(kid),
    current: () => ({ kid: current }),
    unwrap,
    wrap: (recordKey, binding) => explain(() => wrap(recordKey, binding)),
    async rewrap(wrapped, binding) {
      const recordKey = await unwrap(wrapped, binding)
      try {
        return await explain(() => wrap(recordKey, binding))
      } finally {
        recordKey.fill(0)
      }
    },
    // The key is rotated where it lives; here the records follow. Where it was not, they are under the newest version already.
    async rotate({ from = current } = {}) {
      current = await service.newest()
      return { kid: current, previous: from === current ? [] : [from] }
    },
    // Versions are disabled where they live.
    drop: async () => {},
    close: () => service.close(),
  }
}

async function explain<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (thrown) {
    throw thrown instanceof KeyServiceError ? notStored(thrown) : thrown
  }
}

/** A secret that cannot be stored for want of the service is the caller's to send again: 503, and nothing was stored. */
export const notStored = (cause: KeyServiceError) =>
  new GatewayError(
    'credential_unavailable',
    'The key service that guards credentials could not seal this one. Nothing was stored: ' +
      (cause.reason === 'unreachable'
        ? 'try again in a moment.'
        : 'ask the administrator, whose log says why.'),
    { cause, reason: `key_service_${cause.reason}` },
  )
