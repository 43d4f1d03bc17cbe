// Composes sign-in: people, sessions, connections, the authorization server.
import type { Addresses } from '../core/config.ts'
import type { RateSharing } from '../core/rate-sharing.ts'
import type { Logger } from '../lib/log.ts'
import type { DocumentReader } from '../outbound/document.ts'
import type { VettedFetch } from '../outbound/fetch.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import { createConnections } from './connections.ts'
import { createOauth } from './oauth/index.ts'
import type { DeriveKey } from './oauth/keys.ts'
import { createPeople } from './people.ts'
import { createIdentityProvider } from './provider.ts'
import type {
  AuthorizationServer,
  Connections,
  IdentityProvider,
  Interactions,
  People,
  Sessions,
  SignIn,
} from './ports.ts'
import { createSessions } from './sessions.ts'
import { createSignIn } from './sign-in.ts'

export interface Identity {
  readonly sessions: Sessions
  readonly people: People
  readonly signIn: SignIn
  readonly provider: IdentityProvider
  readonly connections: Connections
  readonly oauth: AuthorizationServer
  readonly interactions: Interactions
}

export interface IdentityParts {
  readonly store: Store
  readonly documents: DocumentStore
  readonly addresses: Addresses
  readonly deriveKey: DeriveKey
  readonly readDocument: DocumentReader
  /** The way to the identity provider, which may be in a private network of the operator's. */
  readonly providerFetch: VettedFetch
  readonly rates?: Pick<RateSharing, 'of'> | undefined
  readonly log: Logger
  readonly now: () => number
}

export function createIdentity(parts: IdentityParts): Identity {
  const sessions = createSessions(parts)
  const connections = createConnections(parts)
  const { server: oauth, interactions } = createOauth({ ...parts, connections })
  return {
    sessions,
    people: createPeople(parts),
    signIn: createSignIn({ ...parts, sessions }),
    provider: createIdentityProvider({ ...parts, sessions }),
    connections,
    oauth,
    interactions,
  }
}
