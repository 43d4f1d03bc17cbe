// The binding of a sealed secret, and who waits for whom while the wrapping key changes.
import type { Credential } from '../store/ports.ts'
import { GatewayError } from '../core/errors.ts'
import { RETIRED_KEY } from '../store/ports/credentials.ts'
import type { SecretBinding } from './ports.ts'

/** Everything the secret is bound to at rest, as the row has it. */
export const bindingOf = (credential: Credential): SecretBinding => ({
  credentialId: credential.id,
  accountId: credential.accountId,
  provider: credential.provider,
  hosts: credential.scope.hosts,
  pathPrefixes: credential.scope.path_prefixes,
  methods: credential.scope.methods,
  header: credential.header,
  scheme: credential.scheme,
  settings: credential.settings,
  version: credential.version,
})

/** Lets a rotation wait for wraps that were begun under the old key but are not stored yet. */
export interface SealGate {
  /** Seals and stores; once more where the wrapping key was retired meanwhile. */
  run<T>(seal: () => Promise<T>): Promise<T>
  /** Resolves when everything begun before this call is stored or has failed. */
  settled(): Promise<void>
}

/** Lets the rotation of the authority's key wait for secrets that are being sealed with the old one. */
export function createSealGate(): SealGate {
  const running = new Set<Promise<unknown>>()
  return {
    async run(seal) {
      const sealing = seal().catch((thrown: unknown) => {
        // Another replica retired the key in between: what is sealed now is under the new one.
        if (thrown instanceof GatewayError && thrown.reason === RETIRED_KEY) return seal()
        throw thrown
      })
      running.add(sealing)
      try {
        return await sealing
      } finally {
        running.delete(sealing)
      }
    },
    async settled() {
      await Promise.allSettled(running)
    },
  }
}
