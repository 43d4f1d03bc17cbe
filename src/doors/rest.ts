import type { HttpHandler } from './http.ts'
import type { DoorParts } from './parts.ts'

export interface RestDoor {
  /** Every other path: tools, documents, pages. */
  readonly http: HttpHandler
}

export function createRestDoor(_parts: DoorParts): RestDoor {
  throw new Error('being written')
}
