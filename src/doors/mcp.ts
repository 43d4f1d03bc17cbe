import type { HttpHandler } from './http.ts'
import type { DoorParts } from './parts.ts'

export interface McpDoor {
  /** `/mcp`: reads its own body. */
  readonly http: HttpHandler
  close(): Promise<void>
}

export function createMcpDoor(_parts: DoorParts): McpDoor {
  throw new Error('being written')
}
