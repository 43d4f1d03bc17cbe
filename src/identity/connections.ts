// Assistants that people allowed to connect: what a person decided becomes a capability with a part for each credential.
import { Scope } from '../../schemas/http.ts'
import { GatewayError } from '../core/errors.ts'
import { isFresh } from '../core/roles.ts'
import { narrowScope } from '../egress/capabilities.ts'
import { toLimits } from '../egress/limits/budgets.ts'
import { newId } from '../lib/ids.ts'
import type { Connection, ConnectionTerms, Store } from '../store/ports.ts'
import { describeConnections, MAY_CONNECT } from './connection-record.ts'
import type { Changing, ConnectionChoice, Connections } from './ports.ts'

export interface ConnectionParts {
  readonly store: Pick<
    Store,
    | 'addAccessToken'
    | 'changeConnection'
    | 'dropAccessToken'
    | 'findCapabilityById'
    | 'findConnectionOfGrant'
    | 'findParts'
    | 'getConnection'
    | 'getCredential'
    | 'listBudgets'
    | 'getMember'
    | 'listCapabilities'
    | 'listConnections'
    | 'openConnection'
    | 'revokeConnections'
    | 'touchConnection'
  >
  readonly now: () => number
}

/** Credentials of one connection: as many as an assistant can tell apart. */
export const MAX_PARTS = 32
/** Longest time that a connection may last, in milliseconds. */
export const MAX_LIFETIME_MS = 400 * 24 * 3_600_000
const MIN_LIFETIME_MS = 60_000
const MAX_USES = 1_000_000
/** How often the time of the last use is written, in milliseconds: a call that uses a connection waits for nothing more. */
const TOUCH_EVERY_MS = 60_000

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Connections over a store. */
export function createConnections({ store, now }: ConnectionParts): Connections {
  const touched = new Map<string, number>()

  async function termsOf(
    by: Changing,
    choice: ConnectionChoice,
    before: ReadonlyMap<string, string>,
    at: number,
  ): Promise<ConnectionTerms> {
    requireMayConnect(by, choice, at)
    checkLimits(choice, at)
    const parts: ConnectionTerms['parts'][number][] = []
    for (const { credentialId, scope } of choice.parts) {
      if (parts.some((part) => part.credentialId === credentialId))
        throw refused('/parts', 'names a credential twice')
      const credential = await store.getCredential(credentialId, by.accountId)
      if (!credential || credential.revokedAt !== null)
        throw new GatewayError(
          'credential_not_found',
          'Your account has no such credential, or it was revoked. Choose among those that are shown.',
        )
      parts.push({
        credentialId,
        capabilityId: before.get(credentialId) ?? newId('cap', at),
        scope: narrowScope(credential.scope, checked(scope), 'credential'),
      })
    }
    return {
      parts,
      scope: unite(parts.map(({ scope }) => scope)),
      budgets: toLimits(choice.budgets),
      maxUses: choice.maxUses,
      expiresAt: choice.expiresAt,
      mayPay: choice.mayPay,
      mayOperate: choice.mayOperate,
      showsBalance: choice.showsBalance,
    }
  }

  async function changed(
    connection: Connection,
    by: Changing,
    choice: ConnectionChoice,
  ): Promise<Connection> {
    const at = now()
    const parts = await store.findParts(connection.capabilityId)
    const terms = await termsOf(by, choice, new Map(parts.map((part) => [part.credentialId, part.id])), at)
    if (!(await store.changeConnection({ connection, terms, now: at }))) throw ended()
    return found(await store.getConnection(connection.id, connection.accountId))
  }

  return {
    async open({ by, client, grantId, choice }) {
      const before = await store.findConnectionOfGrant(grantId)
      if (before) {
        // The assistant asked for more under the same grant (step-up): nobody else's grant is ever taken over.
        if (
          before.accountId !== by.accountId ||
          before.personId !== by.personId ||
          before.clientId !== client.id
        )
          throw new GatewayError('state_conflict', 'This request belongs to somebody else. Begin again.')
        if (before.revokedAt !== null) throw ended()
        return changed(before, by, choice)
      }
      const at = now()
      const terms = await termsOf(by, choice, new Map(), at)
      const connection: Connection = {
        id: newId('con', at),
        accountId: by.accountId,
        personId: by.personId,
        capabilityId: newId('cap', at),
        clientId: client.id,
        clientName: client.name,
        clientHost: client.host,
        redirectHost: client.redirectHost,
        grantId,
        mayPay: terms.mayPay,
        mayOperate: terms.mayOperate,
        createdAt: at,
        changedAt: at,
        usedAt: null,
        revokedAt: null,
        expiresAt: terms.expiresAt,
      }
      await store.openConnection({ connection, terms })
      return connection
    },

    async change({ by, connectionId, choice }) {
      const connection = found(await store.getConnection(connectionId, by.accountId))
      if (connection.revokedAt !== null) throw ended()
      return changed(connection, by, choice)
    },

    list: (filter, page) => store.listConnections(filter, page),
    describe: (connections) => describeConnections(store, connections, now()),
    get: (accountId, connectionId) => store.getConnection(connectionId, accountId),

    async revoke(accountId, connectionId) {
      await store.revokeConnections({ which: { accountId, of: 'connection', id: connectionId }, now: now() })
      return found(await store.getConnection(connectionId, accountId))
    },
    async revokeClient(accountId, clientId) {
      const which = { accountId, of: 'client', id: clientId } as const
      return (await store.revokeConnections({ which, now: now() })).length
    },

    addToken: ({ connectionId, tokenHash, expiresAt }) =>
      store.addAccessToken({ connectionId, tokenHash, createdAt: now(), expiresAt }),
    dropToken: (tokenHash) => store.dropAccessToken(tokenHash),

    used(connectionId) {
      const at = now()
      if (at - (touched.get(connectionId) ?? 0) < TOUCH_EVERY_MS) return
      if (touched.size > 10_000) touched.clear()
      touched.set(connectionId, at)
      // A time that is a minute off hurts nobody, and no call fails for it.
      store.touchConnection({ id: connectionId, now: at }).catch(() => {})
    },
  }
}

/** @throws {GatewayError} role_required, fresh_sign_in_required */
function requireMayConnect(by: Changing, choice: ConnectionChoice, at: number): void {
  if (!MAY_CONNECT.includes(by.role))
    throw new GatewayError(
      'role_required',
      `Owners and operators connect assistants, and your role is ${by.role}. Ask an owner of the account.`,
      { extras: { role: by.role } },
    )
  const { freshAt } = by
  if (choice.mayOperate && freshAt !== undefined && !isFresh({ freshAt }, at))
    throw new GatewayError(
      'fresh_sign_in_required',
      'Whoever holds the tools of operators can change nearly everything. Show again that it is you, with your passkey.',
    )
}

/** @throws {GatewayError} input_invalid */
function checkLimits({ parts, maxUses, expiresAt }: ConnectionChoice, at: number): void {
  if (parts.length > MAX_PARTS) throw refused('/parts', `a connection has ${MAX_PARTS} credentials at most`)
  if (!Number.isSafeInteger(expiresAt) || expiresAt < at + MIN_LIFETIME_MS)
    throw refused('/expires_at', 'must lie in the future')
  if (expiresAt > at + MAX_LIFETIME_MS) throw refused('/expires_at', 'must lie within 400 days')
  if (maxUses !== null && !(Number.isInteger(maxUses) && maxUses >= 1 && maxUses <= MAX_USES))
    throw refused('/max_uses', `must be a whole number from 1 to ${MAX_USES}`)
}

/** A form or a program wrote it: an entry that could match nothing, or everything, is refused before it is compared. */
function checked(scope: ConnectionChoice['parts'][number]['scope']) {
  const { data, error } = Scope.partial().safeParse(scope)
  if (data) return data
  const [issue] = error.issues
  throw refused(`/credentials/${issue?.path.join('/') ?? ''}`, issue?.message ?? 'is no scope')
}

/** What several scopes cover together: shown, and never asked, since each part is asked for itself. */
const unite = (scopes: readonly Scope[]): Scope => ({
  hosts: [...new Set(scopes.flatMap(({ hosts }) => hosts))],
  path_prefixes: [...new Set(scopes.flatMap(({ path_prefixes }) => path_prefixes))],
  methods: METHODS.filter((method) => scopes.some(({ methods }) => methods.includes(method))),
})

const refused = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })

const ended = () =>
  new GatewayError(
    'state_conflict',
    'This connection was ended. Let the assistant sign in again for a new one.',
  )

function found(connection: Connection | undefined): Connection {
  if (!connection)
    throw new GatewayError('connection_not_found', 'Your account has no connection of this id.')
  return connection
}
