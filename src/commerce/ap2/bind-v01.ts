// AP2 0.1: what the mandates beside each other in a message say of the same purchase, and the hash of the cart that its merchant signed.
import type { Binding } from '../ports.ts'
import type { Ap2Sights } from './detect.ts'

/** The mandates of 0.1 that a message holds, each held against the others. */
export function bindV01(_sights: Ap2Sights): Binding[] {
  return []
}
