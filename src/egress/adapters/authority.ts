import type { UnwrapAuthority } from '../ports.ts'

/** The wrapping authority as the gateway holds it: usable, publishable and rotatable. */
export interface Authority extends UnwrapAuthority {
  /** Generates and persists a new current key; the old ones keep unwrapping until dropped. */
  rotate(): Promise<{ kid: string; previous: readonly string[] }>
  /** Re-wraps a record key from whichever key it is under to the current one. The secret is not touched. */
  rewrap(
    wrap: import('../../store/ports.ts').WrappedKey,
    binding: Buffer,
  ): Promise<import('../../store/ports.ts').WrappedKey>
  /** Forgets retired private keys that nothing is wrapped under any more. */
  drop(kids: readonly string[]): Promise<void>
}

/** Local key file (JWK or JWK Set, 0600), generated when absent. */
export async function openAuthority(_options: { file: string; now: () => number }): Promise<Authority> {
  throw new Error('being written')
}
