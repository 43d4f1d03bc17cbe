// Composes sign-in: people, sessions, connections.
import type { Store } from '../store/ports.ts'
import { createConnections } from './connections.ts'
import { createPeople } from './people.ts'
import type { Connections, People, Sessions, SignIn } from './ports.ts'
import { createSessions } from './sessions.ts'
import { createSignIn } from './sign-in.ts'

export interface Identity {
  readonly sessions: Sessions
  readonly people: People
  readonly signIn: SignIn
  readonly connections: Connections
}

export interface IdentityParts {
  readonly store: Store
  readonly addresses: { readonly baseUrl: string }
  readonly now: () => number
}

export function createIdentity(parts: IdentityParts): Identity {
  const sessions = createSessions(parts)
  return {
    sessions,
    people: createPeople(parts),
    signIn: createSignIn({ ...parts, sessions }),
    connections: createConnections(parts),
  }
}
