// Leak gates of credentials in use. Preparing one costs ten times what searching a small response with it does, and a busy
// credential is answered hundreds of times a second. A gate is the secret in forty disguises, so none is kept for long.
import type { Secret } from '../secret.ts'
import type { createLeakGate, LeakGate } from './leak-gate.ts'

/** From when it was made, however often it is used meanwhile. */
const LIFETIME_MS = 2_000
const MAX_GATES = 256

export interface GatedCredential {
  readonly id: string
  /** A rotated secret is another secret. */
  readonly version: number
  readonly scheme: string
}

export function createGateCache(
  create: typeof createLeakGate,
): (secret: Secret<string>, credential: GatedCredential) => LeakGate {
  const gates = new Map<string, LeakGate>()
  return (secret, credential) => {
    const key = `${credential.id} ${credential.version}`
    const known = gates.get(key)
    if (known) return known
    const gate = create(secret, credential)
    if (gates.size < MAX_GATES) {
      gates.set(key, gate)
      setTimeout(() => gates.delete(key), LIFETIME_MS).unref()
    }
    return gate
  }
}
