// A connection as its account reads it.
import type { ConnectionRecord } from '../../schemas/connection.ts'
import type { Role } from '../../schemas/role.ts'
import { groupByHolder, toBudgetState } from '../egress/limits/budgets.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { Connection, Store } from '../store/ports.ts'

/** More than a connection can have at once, those that ended included. */
const MOST_CAPABILITIES = 100

/** The roles whose word lets an assistant act. */
export const MAY_CONNECT: readonly Role[] = ['owner', 'operator']

/** @returns each with its credentials, limits and what was counted on them; those whose root was swept are left out */
export async function describeConnections(
  store: Pick<Store, 'listBudgets' | 'listCapabilities' | 'findCapabilityById' | 'findParts' | 'getMember'>,
  connections: readonly Connection[],
  now: number,
): Promise<ConnectionRecord[]> {
  const budgets = groupByHolder(
    await store.listBudgets(
      connections.map(({ capabilityId }) => capabilityId),
      now,
    ),
  )
  const standings = new Map<string, Promise<boolean>>()
  const records = await Promise.all(
    connections.map(async (connection): Promise<ConnectionRecord | undefined> => {
      const root = await store.findCapabilityById(connection.capabilityId, connection.accountId)
      if (!root) return undefined
      const parts = await partsOf(connection)
      return {
        connection_id: connection.id,
        person_id: connection.personId,
        client: {
          id: connection.clientId,
          name: connection.clientName,
          host: connection.clientHost,
          redirect_host: connection.redirectHost,
        },
        credentials: parts.map(({ id, credentialId, scope }) => ({
          credential_id: credentialId,
          capability_id: id,
          ...scope,
        })),
        capability_id: root.id,
        may_pay: connection.mayPay,
        may_operate: connection.mayOperate,
        shows_balance: root.showsBalance,
        max_uses: root.maxUses,
        uses: root.uses,
        budgets: (budgets.get(root.id) ?? []).map(toBudgetState),
        created_at: toTimestamp(connection.createdAt),
        changed_at: toTimestamp(connection.changedAt),
        used_at: toTimestampOrNull(connection.usedAt),
        expires_at: toTimestamp(connection.expiresAt),
        ended_at: toTimestampOrNull(connection.revokedAt),
        suspended: connection.revokedAt === null && !(await isStanding(connection)),
      }
    }),
  )
  return records.filter((record) => record !== undefined)

  /** Whether its person still lets it act; asked once for each person. */
  function isStanding({ accountId, personId }: Connection): Promise<boolean> {
    const asked =
      standings.get(personId) ??
      store
        .getMember(accountId, personId)
        .then(
          (member) =>
            member !== undefined && member.person.disabledAt === null && MAY_CONNECT.includes(member.role),
        )
    standings.set(personId, asked)
    return asked
  }

  /** Of one that ended those that ended with it: the person sees what they had allowed. */
  async function partsOf({ capabilityId, accountId, revokedAt }: Connection) {
    if (revokedAt === null) return store.findParts(capabilityId)
    const { items } = await store.listCapabilities(
      { accountId, rootId: capabilityId },
      { limit: MOST_CAPABILITIES },
    )
    return items.flatMap(({ credentialId, parentId, ...part }) =>
      credentialId !== null && parentId === capabilityId && part.revokedAt === revokedAt
        ? [{ ...part, credentialId }]
        : [],
    )
  }
}
