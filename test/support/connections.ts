// Connections of people with assistants, as rows and as what a person chooses.
import { randomBytes } from 'node:crypto'
import type { ConnectionChoice } from '../../src/identity/ports.ts'
import { newId } from '../../src/lib/ids.ts'
import type { Connection, ConnectionTerms, Store } from '../../src/store/ports.ts'
import type { Role } from '../../schemas/role.ts'
import { NOW, SCOPE } from './store.ts'

/** A person of the account. */
export async function addMember(store: Store, accountId: string, role: Role = 'owner'): Promise<string> {
  const id = newId('per', NOW)
  await store.addPerson({
    person: { id, name: 'Sarah', createdAt: NOW, disabledAt: null },
    membership: { accountId, personId: id, role, admin: false, createdAt: NOW },
  })
  return id
}

export const termsOn = (
  credentials: readonly { readonly id: string }[],
  over: Partial<ConnectionTerms> = {},
): ConnectionTerms => ({
  scope: SCOPE,
  parts: credentials.map(({ id }) => ({ credentialId: id, capabilityId: newId('cap', NOW), scope: SCOPE })),
  budgets: [],
  maxUses: null,
  expiresAt: NOW + 3_600_000,
  mayPay: false,
  mayOperate: false,
  showsBalance: false,
  ...over,
})

export const newConnection = (
  accountId: string,
  personId: string,
  over: Partial<Connection> = {},
): Connection => ({
  id: newId('con', NOW),
  accountId,
  personId,
  capabilityId: newId('cap', NOW),
  clientId: 'https://assistant.example/client',
  clientName: 'Assistant',
  clientHost: 'assistant.example',
  redirectHost: 'assistant.example',
  grantId: newId('rcp', NOW),
  mayPay: false,
  mayOperate: false,
  createdAt: NOW,
  changedAt: NOW,
  usedAt: null,
  revokedAt: null,
  expiresAt: NOW + 3_600_000,
  ...over,
})

/** A token of the connection; its SHA-256 is all that the store knows of one. */
export async function addToken(store: Store, connection: { readonly id: string }): Promise<Buffer> {
  const tokenHash = randomBytes(32)
  await store.addAccessToken({
    tokenHash,
    connectionId: connection.id,
    createdAt: NOW,
    expiresAt: NOW + 3_600_000,
  })
  return tokenHash
}

/** What a person chooses who leaves everything as it is offered. */
export const choiceOf = (
  credentialIds: readonly string[],
  over: Partial<ConnectionChoice> = {},
): ConnectionChoice => ({
  parts: credentialIds.map((credentialId) => ({ credentialId, scope: {} })),
  budgets: [],
  maxUses: null,
  expiresAt: Date.now() + 3_600_000,
  mayPay: false,
  mayOperate: false,
  showsBalance: false,
  ...over,
})
