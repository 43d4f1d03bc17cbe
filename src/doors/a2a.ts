import type { HttpHandler } from './http.ts'
import type { DoorParts } from './parts.ts'

export interface A2aDoor {
  /** `/a2a` and everything below it. */
  readonly http: HttpHandler
  /** `/.well-known/agent-card.json` (and the 0.3 address). */
  readonly card: HttpHandler
  close(): Promise<void>
}

export async function createA2aDoor(_parts: DoorParts): Promise<A2aDoor> {
  throw new Error('being written')
}
