// The life of an attempt's row: how each ending is written down, its receipt, and what recovery does with the rest.
import type { AttemptRecord, Reconciliation } from '../../schemas/egress.ts'
import { GatewayError } from '../core/errors.ts'
import type { OnFault } from '../core/faults.ts'
import { recoverDead, rowsLeft } from '../core/recovery.ts'
import { everyTurn } from '../lib/every-turn.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { retryLater } from '../lib/retry.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'
import type { Agent, Caller } from '../core/caller.ts'
import type { Store, StoredReceipt } from '../store/ports.ts'
import type { Attempt, PageRequest } from '../store/model.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { StreamFacts } from './paid.ts'
import type { Approval } from './ports.ts'
import { ATTEMPT_COST, toAttemptRecord } from './wire.ts'

/** The leak gate's verdict; `not_run` where there was no response to search. */
export type GateVerdict = 'clean' | 'reflected' | 'not_run'

export interface AttemptParts {
  readonly store: Store
  readonly signer: Signer
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
  /** An operator's decision about the attempt, where there is one. */
  readonly findReconciliation?: (attempt: Attempt) => Promise<Reconciliation | undefined>
}

export interface Ending {
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
  readonly upstreamStatus: number | null
  readonly responseDigest: string | null
  readonly gate: GateVerdict
  /** The answer, sealed, for a repeat under the caller's key. */
  readonly answer?: Uint8Array | undefined
  readonly approvals?: readonly Approval[] | undefined
  /** Of an answer that was passed on while it arrived. */
  readonly stream?: StreamFacts | undefined
}

/** An attempt that is ended, and what its caller is told of it. */
export interface Finished {
  readonly receipt: StoredReceipt
  readonly balance: number
  /** Whether there was an answer to keep, and its account had room for it. */
  readonly isAnswerKept: boolean
}

export interface AttemptLedger {
  /**
   * Transaction A, by the command of its kind. Where it is ok, the attempt is in hand until `finish` or `refund` ends it. A store that throws
   * does not say whether it has the attempt; nothing is sent for one, so it is refunded as soon as it turns up, however late.
   */
  begin<T extends { readonly ok: boolean }>(attempt: Attempt, reserve: () => Promise<T>): Promise<T>
  /**
   * Transaction C. The receipt is stored with the outcome, before anything is released.
   * @throws when the row could not be written; it is written later by `retryUnwritten`
   */
  finish(attempt: Attempt, ending: Ending): Promise<Finished>
  /** Gives the credit back. Only for attempts of which no request byte left. */
  refund(attempt: Attempt, outcome: string): Promise<{ balance: number }>
  /** Settles what dead processes, and store failures of this one, left behind. */
  recover(): Promise<void>
  get(caller: Caller, attemptId: string): Promise<AttemptRecord>
  list(
    caller: Caller,
    filter: { state?: Attempt['state'] | undefined },
    page: PageRequest,
  ): Promise<{ items: AttemptRecord[]; next: string | null }>
}

const BATCH = 100

/** Attempts as rows: reserved before the first packet, ended once, read by their account. */
export function createAttemptLedger(parts: AttemptParts): AttemptLedger {
  const { store, bootId, now, log } = parts
  // Endings that the store would not take. This process is alive, so nobody else's recovery will write them.
  const unwritten = new Map<string, () => Promise<unknown>>()
  /** Attempts that are worked on, and those of `unwritten`. Nothing was sent for any other of this process. */
  const inHand = new Set<string>()
  let settling: Promise<void> | undefined

  async function write<T>(attempt: Attempt, command: () => Promise<T>): Promise<T> {
    inHand.add(attempt.id)
    try {
      const written = await command()
      inHand.delete(attempt.id)
      return written
    } catch (thrown) {
      unwritten.set(attempt.id, command)
      settleSoon()
      throw thrown
    }
  }

  const takeBack = async (id: string, outcome: string) => {
    const at = now()
    return store.refundAttempt({ id, bootId, outcome, transactionId: newId('txn', at), now: at })
  }

  /** @throws the first error of the store, once all were asked for */
  async function settleLeft(): Promise<void> {
    await everyTurn(rowsLeft(store.listUnfinishedAttempts, bootId, inHand), async ({ id }) => {
      const { ok } = await takeBack(id, 'store_unavailable')
      if (ok) log.warn({ [LogField.attempt]: id }, 'an attempt that the store had not answered is refunded')
    })
  }

  async function settleAll(): Promise<void> {
    await everyTurn([settleLeft, retryUnwritten], (part) => part())
    if (unwritten.size > 0) throw new Error(`${unwritten.size} endings are not written`)
  }

  /** Callers may repeat their calls at any time, and are told that they are under way until then. */
  function settleSoon(): void {
    settling ??= retryLater(settleAll)
      .catch((err: unknown) => log.error({ err }, 'attempts that the store did not take are still open'))
      .finally(() => (settling = undefined))
  }

  /** Attempts are on the capability of a credential, and a connection's stand below the one that it holds. */
  async function isOwn({ capability, connection }: Agent, { capabilityId }: Attempt): Promise<boolean> {
    if (capabilityId === capability.id) return true
    return connection !== undefined && capabilityId !== null && store.isCutFrom(capabilityId, capability.id)
  }

  async function retryUnwritten(): Promise<void> {
    for (const [id, command] of unwritten) {
      try {
        await command()
        unwritten.delete(id)
        inHand.delete(id)
        log.info({ [LogField.attempt]: id }, 'an ending that the store had refused is written')
      } catch (thrown) {
        // One that still cannot be written must not hold up the others.
        log.error({ [LogField.attempt]: id, err: thrown }, 'an ending could still not be written')
      }
    }
  }

  const recoverAll = () =>
    recoverDead({
      ...parts,
      list: store.listUnfinishedAttempts,
      async recover(id) {
        const { refunded, ambiguous } = await store.recoverAttempts({ bootId, now: now(), id })
        if (refunded.length + ambiguous.length > 0)
          log.warn(
            { refunded: refunded.length, ambiguous: ambiguous.length },
            'settled what a crash left behind',
          )
      },
    })

  async function attachMissingReceipts(): Promise<void> {
    for (;;) {
      const attempts = await store.listAttemptsWithoutReceipt(BATCH)
      let attached = 0
      await everyTurn(attempts, async (attempt) => {
        const receipt = signReceipt(parts, attempt, {
          state: attempt.state === 'ambiguous' ? 'ambiguous' : 'settled',
          outcome: attempt.outcome ?? 'crashed',
          upstreamStatus: attempt.upstreamStatus,
          responseDigest: attempt.responseDigest,
          gate: 'not_run',
          approvals: await findApprovals(store, attempt.permitId),
        })
        if (await store.attachReceipt({ attemptId: attempt.id, receipt })) attached++
      })
      if (attempts.length < BATCH || attached === 0) return
    }
  }

  return {
    async begin(attempt, reserve) {
      inHand.add(attempt.id)
      try {
        const reserved = await reserve()
        if (!reserved.ok) inHand.delete(attempt.id)
        return reserved
      } catch (thrown) {
        inHand.delete(attempt.id)
        settleSoon()
        throw thrown
      }
    },

    async finish(attempt, ending) {
      const receipt = signReceipt(parts, attempt, ending)
      const { state, outcome, upstreamStatus, responseDigest } = ending
      const finished = await write(attempt, () =>
        store.finishAttempt({
          id: attempt.id,
          kind: attempt.kind,
          bootId,
          state,
          outcome,
          upstreamStatus,
          responseDigest,
          receipt,
          answer: ending.answer,
          now: receipt.createdAt,
        }),
      )
      // Recovery by another process took it for dead: its word stands, ours is not stored and must not be shown.
      if (!finished.ok) throw new Error('the attempt was finished by somebody else')
      const isAnswerKept = ending.answer !== undefined && finished.isAnswerKept !== false
      return { receipt, balance: finished.balance, isAnswerKept }
    },

    async refund(attempt, outcome) {
      const { balance } = await write(attempt, () => takeBack(attempt.id, outcome))
      return { balance }
    },

    async recover() {
      await everyTurn([retryUnwritten, settleLeft, recoverAll, attachMissingReceipts], (part) => part())
    },

    async get(caller, attemptId) {
      const attempt = 'accountId' in caller ? await store.getAttempt(attemptId, caller.accountId) : undefined
      if (!attempt || (caller.kind === 'agent' && !(await isOwn(caller, attempt))))
        throw new GatewayError('attempt_not_found', 'There is no attempt of this id that you may see.')
      const reconciliation = await parts.findReconciliation?.(attempt)
      return { ...toAttemptRecord(attempt), ...(reconciliation && { reconciliation }) }
    },

    async list(caller, { state }, page) {
      if (!('accountId' in caller)) return { items: [], next: null }
      const own =
        caller.kind !== 'agent'
          ? {}
          : caller.connection
            ? { rootId: caller.capability.id }
            : { capabilityId: caller.capability.id }
      const found = await store.listAttempts({ accountId: caller.accountId, ...own, state }, page)
      return { items: found.items.map(toAttemptRecord), next: found.next }
    },
  }
}

/** The yeses to a permit, for the receipt of its execution; undefined where nobody was asked. */
export async function findApprovals(
  store: Pick<Store, 'listDecisions'>,
  permitId: string | null,
): Promise<readonly Approval[] | undefined> {
  const decisions = permitId === null ? [] : await store.listDecisions([permitId])
  const approvals = decisions.filter(({ decision }) => decision === 'approve')
  if (approvals.length === 0) return undefined
  return approvals.map(({ id, kind, method, decidedAt }) => ({ by: id, kind, method, at: decidedAt }))
}

/** Digests, amounts, host and times; never a query, a body or a header (contract, section 8). */
function signReceipt(parts: AttemptParts, attempt: Attempt, ending: Ending): StoredReceipt {
  const { signer, baseUrl, now } = parts
  const at = now()
  const id = newId('rcp', at)
  const { kind } = attempt
  // A receipt names on whose word the request went, and with which credential: an edge call goes on its merchant's alone.
  // Members that are undefined are left out. All stand in canonical order, so that they are signed as they stand.
  const jws = signer.sign(JWS_TYPES.receipt, {
    action: ACTIONS[kind],
    approvals: ending.approvals?.map(({ at, by, kind, method }) => ({
      at: toTimestamp(at),
      by,
      kind,
      method,
    })),
    attempt_id: attempt.id,
    capability_id: kind === 'fetch' ? attempt.capabilityId : undefined,
    charge: { amount: ATTEMPT_COST, unit: 'credit' },
    credential_id: kind === 'edge' ? undefined : attempt.credentialId,
    credential_version: kind === 'edge' ? undefined : attempt.credentialVersion,
    // The signer says it.
    environment: undefined,
    iat: Math.floor(at / 1000),
    iss: baseUrl,
    jti: id,
    outcome: ending.outcome,
    permit_id: kind === 'action' ? attempt.permitId : undefined,
    request: { digest: attempt.requestDigest, host: attempt.host, method: attempt.method },
    response: { digest: ending.responseDigest, leak_gate: ending.gate, status: ending.upstreamStatus },
    state: ending.state,
    stream: ending.stream && signedFacts(ending.stream),
    times: { created_at: toTimestamp(attempt.createdAt), finished_at: toTimestamp(at) },
  })
  return { id, accountId: attempt.accountId, jws, createdAt: at }
}

/** In canonical order. */
const signedFacts = (facts: StreamFacts) => ({
  bytes_in: facts.bytes_in,
  bytes_out: facts.bytes_out,
  digest: facts.digest,
  duration_ms: facts.duration_ms,
  end: facts.end,
  events: facts.events,
  first_byte_ms: facts.first_byte_ms,
  kind: facts.kind,
  request_digest: facts.request_digest,
})

/** The word of a receipt for each kind of attempt. */
const ACTIONS = { fetch: 'egress.fetch', action: 'actions.execute', edge: 'edge.forward' } as const
