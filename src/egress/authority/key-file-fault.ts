// A key file that is not, or not any more, the one that the records are under: what the operator reads, and what a caller is told.
import { GatewayError } from '../../core/errors.ts'

export type KeyFileFailure =
  /** The file is whole, and a key that the installation uses is not in it. */
  | 'authority_key'
  /** The file is away, damaged or open to others. */
  | 'authority_file'

/** Its message is for the log: it names the file and key ids, and holds nothing of what is in the file. */
export class KeyFileFault extends Error {
  readonly reason: KeyFileFailure
  /** Whether records are under a key that this process does not have. Else they open with the keys in its memory. */
  readonly lacksKey: boolean
  constructor(
    reason: KeyFileFailure,
    message: string,
    { lacksKey = false, ...options }: ErrorOptions & { readonly lacksKey?: boolean } = {},
  ) {
    super(message, options)
    this.name = 'KeyFileFault'
    this.reason = reason
    this.lacksKey = lacksKey
  }
}

/** A secret that cannot be stored for want of the file: 503, and nothing was stored. */
export const notStoredHere = (cause: KeyFileFault) =>
  new GatewayError(
    'credential_unavailable',
    'This replica of the gateway cannot use the key file that guards credentials. Nothing was stored: another replica may store it; ' +
      'else ask the administrator, whose log says why.',
    { cause, reason: cause.reason },
  )
