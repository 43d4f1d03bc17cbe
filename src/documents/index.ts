import type { Config } from '../config.ts'
import type { Addresses } from '../doors/http.ts'
import type { Registry } from '../registry.ts'
import type { Documents } from '../services.ts'

/** Everything is generated once, at start, from the registry and the addresses. */
export function createDocuments(_parts: {
  registry: Registry
  addresses: Addresses
  config: Config
}): Documents {
  throw new Error('being written')
}
