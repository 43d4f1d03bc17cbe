// The row that an attempt begins with, on whoever's word it goes out.
import { createHmac, type KeyObject } from 'node:crypto'
import { newId } from '../lib/ids.ts'
import type { Attempt } from '../store/model.ts'
import type { PreparedRequest } from './request.ts'

export interface AttemptStart extends Pick<Attempt, 'kind' | 'accountId' | 'capabilityId' | 'permitId'> {
  readonly request: PreparedRequest
  /** Digest of everything that is sent (digest.ts). */
  readonly digest: string
  /** Null where no credential goes with it. */
  readonly credential: { readonly id: string; readonly version: number } | null
  /** Whether the gateway sends an Idempotency-Key of its own. */
  readonly addsKey: boolean
  /** The one that follows from the caller's; undefined: one that follows from the attempt. */
  readonly upstreamKey?: string | undefined
  /** Whether the host's addresses are known, so that the debit and `sending` are one commit. */
  readonly isSending: boolean
}

/** @param idempotencyKey key of the Idempotency-Key values: the id of an attempt yields the same value in every process */
export function newAttempt(
  { now, idempotencyKey }: { readonly now: () => number; readonly idempotencyKey: KeyObject },
  { request, digest, credential, addsKey, upstreamKey, isSending, ...holder }: AttemptStart,
): Attempt {
  const createdAt = now()
  const id = newId('att', createdAt)
  return {
    ...holder,
    id,
    credentialId: credential?.id ?? null,
    credentialVersion: credential?.version ?? null,
    state: isSending ? 'sending' : 'reserved',
    method: request.method,
    host: request.target.host,
    requestDigest: digest,
    idempotencyKey: addsKey
      ? (upstreamKey ?? createHmac('sha256', idempotencyKey).update(id).digest('base64url'))
      : null,
    createdAt,
    sendingAt: isSending ? createdAt : null,
    finishedAt: null,
    upstreamStatus: null,
    responseDigest: null,
    outcome: null,
    receiptId: null,
  }
}
