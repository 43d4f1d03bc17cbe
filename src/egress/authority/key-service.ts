// A key that never leaves the service that holds it. The gateway may encrypt and decrypt the 32 bytes of a record key with it,
// nothing else: it makes, rotates and deletes no key there, so that whoever takes the gateway over cannot either.

/**
 * Most records of a rotation that are with a service at once: half of its connections, so that calls have the others. Commits are
 * grouped by the store, so that some at once cost hardly more than one.
 */
export const REWRAPS_AT_ONCE = 8
/** Connections of this process to a service. A request that waits for one is timed as one that is under way. */
export const KEY_SERVICE_CONNECTIONS = 2 * REWRAPS_AT_ONCE

export interface KeyService {
  /** In words, for errors and logs: the kind and the name of the key, nothing secret. */
  readonly name: string
  /**
   * The version of the key that is to be used from now on, by an id that stays what it is.
   * @throws {KeyServiceError}
   */
  newest(): Promise<string>
  /** Whether an id that a record names is a version of this key. */
  owns(kid: string): boolean
  /** @throws {KeyServiceError} */
  encrypt(kid: string, plaintext: Buffer, aad: Buffer): Promise<Buffer>
  /** @throws {KeyServiceError} `refused` where key, ciphertext and additional data do not belong together */
  decrypt(kid: string, ciphertext: Buffer, aad: Buffer): Promise<Buffer>
  close(): Promise<void>
}

export type KeyServiceFailure =
  /** No answer in time, or a failure on its side: it may be there again in a moment. */
  | 'unreachable'
  /** The gateway's identity is not known there, or may not use this key. */
  | 'denied'
  /** There is no such key, or this version of it is disabled or destroyed. */
  | 'key_missing'
  /** The service answered, and the bytes are not what was encrypted, or not for this record. */
  | 'refused'

/**
 * Says what failed and what to do next. It holds nothing of the service's answer but a code: clients put whole requests, with a
 * record key in them, into what they throw.
 */
export class KeyServiceError extends Error {
  readonly reason: KeyServiceFailure
  /** @param code as the service says it, e.g. `AccessDeniedException` */
  constructor(reason: KeyServiceFailure, service: string, code: string) {
    super(`${service} ${WORDS[reason]} (${code})`)
    this.name = 'KeyServiceError'
    this.reason = reason
  }
}

const WORDS = {
  unreachable: 'does not answer; try again in a moment',
  denied:
    'does not let this gateway use the key: look at its identity (credentials of the environment, token or PIN file) and at the policy of the key',
  key_missing: 'has no such key, or the version is disabled or destroyed: enable or restore it',
  refused: 'does not open this record: it is under another key, or was changed',
} as const satisfies Record<KeyServiceFailure, string>
