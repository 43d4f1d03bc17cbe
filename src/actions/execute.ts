// Executing a permit: whose row it is, whether it still may be, and then one attempt of the engine of every fetch.
import type { ActionReply } from '../../schemas/actions.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import { GatewayError } from '../core/errors.ts'
import { findApprovals } from '../egress/attempts.ts'
import type { EgressRequest } from '../egress/ports.ts'
import { must } from '../lib/must.ts'
import type { Actions } from './ports.ts'
import type { Permit } from '../store/ports.ts'
import { findRevocation, isPast, readDependencies } from './revocation-check.ts'
import { hashPermit, readClaims } from './permits.ts'
import type { PermitWaits } from './permit-waits.ts'
import type { ActionParts } from './ports.ts'
import type { PreparedPermit, PreparedPermits } from './prepared-permit-cache.ts'
import { permitPending, permitRevoked } from './refusals.ts'
import { findConflict, type PermitGrant, permitGrant } from './permit-grant.ts'
import { untilDecided, type Wait } from './until-decided.ts'

/** The tool `gateway.actions.execute`. Nothing is read first where this process prepared the permit. */
export function createExecute(
  parts: ActionParts & {
    readonly preparedPermits: Pick<PreparedPermits, 'take'>
    readonly waits: PermitWaits
    readonly findShown: (jws: string) => Promise<Permit>
  },
): Actions['execute'] {
  const { store, forward, now, preparedPermits, waits, findShown } = parts

  return async ({ permit: jws, request: bare, idempotency_key }, charge, wait) => {
    const request = { ...bare, idempotency_key }
    const tokenSha256 = hashPermit(jws)
    const known = preparedPermits.take(tokenSha256)
    const reply = known && (await sendAtOnce(known, jws, request, charge))
    if (reply) return reply

    const shown = await findShown(jws)
    const row = wait === undefined ? shown : await decided(shown, wait)
    const conflict = findConflict(row, now())
    // What an executed permit is asked for under a key may be its answer: the store knows, and else says the same of the permit.
    const isRepeat = row.state === 'executed' && idempotency_key !== undefined
    if (conflict && !isRepeat) throw (await findRevoked(row)) ?? conflict
    const bound = () => must(readClaims(jws), 'the claims of a permit whose row was found').request
    const grant = permitGrant(store, row, bound)
    // A permit that nobody had to approve is not asked after.
    const approvals = row.decidedAt === null ? undefined : await findApprovals(store, row.id)
    return await send(request, { ...grant, ...(approvals && { approvals }) }, charge)
  }

  /** The row once people have decided, or as it stands when the wait ends. Whoever is gone by then gets nothing sent. */
  async function decided(permit: Permit, wait: Wait): Promise<Permit> {
    if (findConflict(permit, now())?.code !== 'permit_pending') return permit
    let row = permit
    await untilDecided(waits, permit, wait, async () => {
      row = (await store.getPermit(permit.id)) ?? row
      return findConflict(row, now())?.code === 'permit_pending' && (await findRevoked(row)) === undefined
    })
    if (wait.signal().aborted) throw permitPending(permit.id)
    return row
  }

  /**
   * The store judges the row before it takes anything, and what it says is said in the same order as by a row that was read.
   * @returns undefined where something else is in the way: the row may say more about it, and comes first
   */
  async function sendAtOnce(
    permit: PreparedPermit,
    jws: string,
    request: EgressRequest,
    charge: CreditCharge,
  ): Promise<ActionReply | undefined> {
    const bound = () => must(readClaims(jws), 'the claims of a permit that this process signed').request
    const grant = permitGrant(store, permit, bound)
    let isJudged = false
    try {
      return await send(
        request,
        {
          ...grant,
          reserve(reservation) {
            isJudged = true
            return grant.reserve(reservation)
          },
        },
        charge,
      )
    } catch (thrown) {
      if (isJudged) throw thrown
      return undefined
    }
  }

  async function send(
    request: EgressRequest,
    grant: PermitGrant,
    charge: CreditCharge,
  ): Promise<ActionReply> {
    const { permitId } = grant
    try {
      return { ...(await forward.send(request, grant, charge)), permit_id: permitId }
    } catch (thrown) {
      throw thrown instanceof GatewayError ? withPermit(thrown, permitId) : thrown
    }
  }

  /** Waiting for a person is of no use where their yes would be: only asked off the path that is taken in earnest. */
  async function findRevoked(row: Permit): Promise<GatewayError | undefined> {
    if (row.state !== 'pending_approval' || isPast(row, now())) return undefined
    const dependencies = await readDependencies(store, row.accountId, [row])
    const why = findRevocation(row, dependencies(row))
    return why && permitRevoked(row.id, why)
  }
}

/** Once there is an attempt, whatever became of it, the permit is used up: advice to try again needs another one. */
function withPermit(error: GatewayError, permitId: string): GatewayError {
  if (error.extras.attempt_id === undefined || error.extras['conflict'] !== undefined) return error
  const { code, message, reason, cause } = error
  return new GatewayError(
    code,
    `${message} The permit is used up: to send this again, ask the operator for a new one.`,
    {
      cause,
      extras: { ...error.extras, permit_id: permitId },
      ...(reason !== undefined && { reason }),
    },
  )
}
