// What the gateway and the process that has the token's library say to each other.
import type { Pkcs11Key } from '../../../../core/config.ts'
import type { KeyServiceFailure } from '../../../authority/key-service.ts'

export type Request =
  /** Logs in and finds the key; the answer is its public point, uncompressed. */
  | { readonly open: Pick<Pkcs11Key, 'modulePath' | 'token' | 'key'>; readonly pin: string }
  /** The answer is the x-coordinate that the key and this point agree on. The point is on the curve. */
  | { readonly agree: Uint8Array }

export type Answer = { readonly ok: true; readonly bytes: Uint8Array } | ({ readonly ok: false } & Failure)

export interface Failure {
  /** `not_installed`: the package that calls such libraries cannot be loaded. */
  readonly reason: KeyServiceFailure | 'not_installed'
  /** As the library says it (`CKR_…`), or in words; nothing secret. */
  readonly code: string
}

export class TokenFault extends Error {
  readonly failure: Failure
  constructor(reason: Failure['reason'], code: string) {
    super(code)
    this.failure = { reason, code }
  }
}
