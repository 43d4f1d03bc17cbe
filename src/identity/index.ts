// Composes sign-in: people, sessions, connections.
import type { Store } from '../store/ports.ts'
import { createConnections } from './connections.ts'
import { createPeople } from './people.ts'
import type { Connections, People, Sessions } from './ports.ts'
import { createSessions } from './sessions.ts'

export interface Identity {
  readonly sessions: Sessions
  readonly people: People
  readonly connections: Connections
}

export interface IdentityParts {
  readonly store: Store
  readonly addresses: { readonly baseUrl: string }
  readonly now: () => number
}

export const createIdentity = (parts: IdentityParts): Identity => ({
  sessions: createSessions(parts),
  people: createPeople(parts),
  connections: createConnections(parts),
})
