// Steps 1 and 2 of every request with a credential: it is checked as everything stands now, then debit, use and attempt are one
// transaction. What goes on the wire was prepared by whoever asks: forward.ts a whole request, relay/ one whose body streams.
import type { KeyObject } from 'node:crypto'
import type { CreditsRequired } from '../core/charging.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { KeyRecord, Store } from '../store/ports.ts'
import type { CheckedRequest, Grant } from './grant.ts'
import { pickResponseHeaders } from './headers.ts'
import { type Call, createKeyedCalls, type KeyedCall } from './idempotency/keyed-call.ts'
import { refuseTokenEndpoint } from './kinds/token-url.ts'
import { newAttempt } from './new-attempt.ts'
import type { Paid } from './paid.ts'
import { checkPolicy, type EgressPolicy } from './policy.ts'
import type { OutboundResponse } from './ports.ts'
import { egressPaused, keysNotShared, targetBlocked } from './refusals.ts'
import type { PreparedRequest } from './request.ts'
import type { Runner } from './run.ts'
import { ATTEMPT_COST } from './wire.ts'
import { findWithdrawal } from './withdrawal.ts'

export interface ReserveParts {
  readonly store: Pick<Store, 'getCredential'>
  readonly runner: Pick<Runner, 'recall' | 'begin'>
  readonly readPolicy: () => Promise<EgressPolicy>
  /** Key of the Idempotency-Key values that this installation hands out. */
  readonly idempotencyKey: KeyObject
  /** Key of what follows from the keys of callers; undefined where it is another one than the other replicas have. */
  readonly callerKeys: KeyObject | undefined
  readonly creditsRequired: CreditsRequired
  readonly bootId: string
  readonly now: () => number
}

/** What is asked to go out. */
export interface Asked {
  readonly grant: Grant
  /** Asked anew where the credential is replaced meanwhile. @returns undefined where it is gone */
  readonly prepare: () => Promise<CheckedRequest | undefined>
  /** The caller's idempotency key, and the id that it is unique under. */
  readonly key: Pick<Call, 'key' | 'scope' | 'freedBy'> | undefined
  /** Whether the gateway adds an Idempotency-Key to this request. */
  readonly addsKey: (request: PreparedRequest) => boolean
  /** The part of a request that its digest covers, where that is not all of it. */
  readonly digested?: (request: PreparedRequest) => PreparedRequest
}

/** An attempt that is paid for, or the record of the one that took the caller's key. */
export type Reserved = (Paid & { readonly ok: true }) | RepeatedCall

/** A call whose key is taken, and the record that says by what. */
export interface RepeatedCall {
  readonly ok: false
  readonly keyed: KeyedCall
  readonly record: KeyRecord
}

/**
 * @returns reserves an attempt. It throws {GatewayError} of the grant, of the policy and of the balance; a credential that is replaced
 * meanwhile is read again, because the digest names its version
 */
export function createReserve(parts: ReserveParts): (asked: Asked) => Promise<Reserved> {
  const { runner } = parts
  const keyedCall = parts.callerKeys && createKeyedCalls(parts.callerKeys)

  return async ({ grant, prepare, key, addsKey, digested = (request) => request }) => {
    if (key !== undefined && !keyedCall) throw keysNotShared()
    for (let tries = 3; ; tries--) {
      const checked = await prepare()
      if (!checked) throw grant.credentialGone()
      const { request, credential } = checked
      grant.check(checked)
      refuseTokenEndpoint(credential.settings, request.target.url)
      applyPolicy(await parts.readPolicy(), request)

      const keyed =
        key === undefined || !keyedCall
          ? undefined
          : keyedCall({
              ...key,
              request: digested(request),
              credentialId: credential.id,
              credentialVersion: credential.version,
            })
      const addresses = await runner.recall(request, credential)
      const attempt = newAttempt(parts, {
        kind: grant.kind,
        accountId: grant.accountId,
        capabilityId: grant.capabilityId,
        permitId: grant.permitId,
        credential,
        request,
        digest: checked.digest,
        addsKey: addsKey(request),
        upstreamKey: keyed?.upstreamKey,
        isSending: addresses !== undefined,
      })
      const reservation = {
        attempt,
        bootId: parts.bootId,
        transactionId: newId('txn', attempt.createdAt),
        cost: ATTEMPT_COST,
        isBudgeted: grant.isBudgeted || credential.isBudgeted,
        now: attempt.createdAt,
        once: keyed?.claim,
      }
      const reserved = await runner.begin(attempt, () => grant.reserve(reservation))
      if (reserved.ok)
        return {
          ok: true,
          attempt,
          credential,
          request,
          balance: reserved.balance,
          approvals: grant.approvals,
          keyed,
          addresses,
          findWithdrawal: () => findWithdrawal(parts.store, grant, credential),
          pickHeaders: (received: OutboundResponse['headers']) =>
            pickResponseHeaders(received, [
              ...checked.provider.response_headers,
              ...(credential.settings.response_headers ?? []),
            ]),
        }
      if (reserved.reason === 'refused') throw reserved.error
      if (reserved.reason === 'repeated') {
        if (!keyed) throw new Error('only a call under a key is a repeat')
        return { ok: false, keyed, record: reserved.record }
      }
      if (reserved.reason === 'credits')
        throw await parts.creditsRequired({
          accountId: grant.accountId,
          balance: reserved.balance,
          need: ATTEMPT_COST,
          what: `One attempt costs ${ATTEMPT_COST} credit`,
        })
      if (reserved.reason === 'credential_gone') throw grant.credentialGone()
      if (tries === 0)
        throw new GatewayError('state_conflict', 'The credential is being replaced right now. Try again.')
    }
  }
}

/** @throws {GatewayError} egress_paused, target_blocked */
export function applyPolicy(policy: EgressPolicy, { target }: PreparedRequest): void {
  const verdict = checkPolicy(policy, target.host)
  if (verdict.ok) return
  throw verdict.reason === 'paused' ? egressPaused() : targetBlocked('denied_host')
}
