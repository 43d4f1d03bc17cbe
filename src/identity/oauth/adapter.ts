// Where oidc-provider keeps what it must remember, in its words. Sessions are kept nowhere: every request for consent asks whoever is
// signed in to the console.
import type { Adapter, AdapterPayload, errors as oauthErrors } from 'oidc-provider'
import { hashToken } from '../../lib/tokens.ts'
import type { Store } from '../../store/ports.ts'
import type { Connections } from '../ports.ts'
import type { Model, Payload, Rows } from './rows.ts'

/** How long a refresh token that was used may be used again: clients refresh in several processes at once, and answers get lost. */
export const REFRESH_GRACE_MS = 60_000
/** Registrations last for as long as somebody uses them; housekeeping decides. */
const CLIENT_MS = 3650 * 24 * 3600_000

export interface AdapterParts {
  readonly rows: Rows
  readonly store: Pick<Store, 'findGrantedConnection' | 'findAccessToken'>
  readonly connections: Pick<Connections, 'addToken' | 'dropToken' | 'revoke'>
  readonly errors: typeof oauthErrors
  readonly now: () => number
}

const MODELS: ReadonlySet<string> = new Set<Model>([
  'AccessToken',
  'AuthorizationCode',
  'Client',
  'DeviceCode',
  'Grant',
  'Interaction',
  'RefreshToken',
])
const isModel = (name: string): name is Model => MODELS.has(name)

const seconds = (millis: number) => Math.floor(millis / 1000)
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** @returns the adapter of each kind of row */
export function createAdapters(parts: AdapterParts): (name: string) => Adapter {
  return (name) => (isModel(name) ? createAdapter(name, parts) : forgetful)
}

function createAdapter(model: Model, { rows, store, connections, errors, now }: AdapterParts): Adapter {
  /** Whatever the grant led to, ended: codes, refresh tokens, access tokens, the connection. */
  async function endGrant(grantId: string): Promise<void> {
    const connection = await store.findGrantedConnection(grantId)
    if (connection) await connections.revoke(connection.accountId, connection.id)
    await rows.dropGrant(grantId)
  }

  /** What the console changed since: the grant is as long as its connection. */
  async function grantAsItStands(id: string, payload: Payload): Promise<Payload | undefined> {
    const connection = await store.findGrantedConnection(id)
    if (!connection?.isLive) return undefined
    return { ...payload, exp: seconds(connection.expiresAt) }
  }

  /** Whether the gateway would still take it. */
  async function isTaken(accessToken: string): Promise<boolean> {
    const found = await store.findAccessToken(hashToken(accessToken))
    return found !== undefined && found.expiresAt > now() && found.capability.revokedAt === null
  }

  return {
    async upsert(id, said, expiresIn) {
      const payload = said as Payload
      const at = now()
      const expiresAt = expiresIn === undefined ? at + CLIENT_MS : at + expiresIn * 1000
      const grantId = textOf(payload['grantId'])
      if (model === 'AccessToken') {
        const connection = grantId === undefined ? undefined : await store.findGrantedConnection(grantId)
        if (!connection?.isLive) throw new errors.InvalidGrant('the connection was ended')
        await connections.addToken({ connectionId: connection.id, tokenHash: hashToken(id), expiresAt })
      }
      await rows.put(model, id, payload, {
        expiresAt,
        grantId: model === 'Grant' ? id : grantId,
        clientId: model === 'Client' ? id : undefined,
        userCode: textOf(payload['userCode']),
      })
    },

    async find(id) {
      const row = await rows.get(model, id)
      if (!row) return undefined
      if (model === 'AccessToken' && !(await isTaken(id))) return undefined
      const payload = model === 'Grant' ? await grantAsItStands(id, row.payload) : row.payload
      if (!payload) return undefined
      const isInGrace =
        model === 'RefreshToken' && row.consumedAt !== null && now() - row.consumedAt < REFRESH_GRACE_MS
      const consumed = row.consumedAt === null || isInGrace ? {} : { consumed: seconds(row.consumedAt) }
      return { ...payload, ...(model !== 'Client' && { jti: id }), ...consumed } as AdapterPayload
    },

    async consume(id) {
      const isFirst = await rows.consume(model, id)
      // Two requests with one code at the same time both found it unused.
      if (isFirst || model === 'RefreshToken') return
      const grantId = textOf((await rows.get(model, id))?.payload['grantId'])
      if (grantId !== undefined) await endGrant(grantId)
      throw new errors.InvalidGrant('it was used already')
    },

    async destroy(id) {
      if (model === 'AccessToken') await connections.dropToken(hashToken(id))
      if (model === 'Grant') return endGrant(id)
      await rows.drop(model, id)
    },

    async revokeByGrantId(grantId) {
      // It is called for each kind of token; the first ends all of them.
      if (model === 'AccessToken') await endGrant(grantId)
    },

    // People type codes on a page of the console (interactions.ts), and sessions are the console's.
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
  }
}

const nothing = async () => undefined
const forgetful: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
}
