// TXT questions over UDP and TCP.
import type { TxtResolver } from '../ports.ts'

/** @param servers `ip` or `ip:port`; empty: the system's */
export function createTxtResolvers(_servers: readonly string[]): readonly TxtResolver[] {
  return []
}
