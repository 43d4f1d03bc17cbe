// What the repeat of a call under its key gets: the kept answer, or why there is none. Nothing is sent and nothing debited.
import { GatewayError } from '../../core/errors.ts'
import { LogField, type Logger } from '../../lib/log.ts'
import { newId } from '../../lib/ids.ts'
import { JWS_TYPES, toReceipt } from '../../receipts/types.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { KeyRecord, Store, StoredReceipt } from '../../store/ports.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import type { SignedReceipt } from '../../../schemas/receipt.ts'
import type { Attempt } from '../../store/model.ts'
import type { Answer } from './answer.ts'
import type { KeyedCall } from './keyed-call.ts'

export interface ReplayParts {
  readonly store: Pick<Store, 'getReceipt' | 'keepReplayReceipt'>
  readonly signer: Signer
  readonly baseUrl: string
  readonly now: () => number
  readonly log: Logger
}

/** The first answer once more, under a receipt that says so. */
export interface Replayed {
  readonly attempt: Attempt
  readonly answer: Answer
  readonly receipt: SignedReceipt
  readonly balance: number
}

/**
 * @throws {GatewayError} idempotency_key_reused for another request under the key; idempotency_key_in_use while the first one is
 * under way; and how it ended where there is no answer to give: outcome_ambiguous, secret_reflected, response_too_large,
 * response_unacceptable, or idempotency_answer_gone where its answer was not kept
 */
export async function replay(parts: ReplayParts, call: KeyedCall, record: KeyRecord): Promise<Replayed> {
  const { attempt, balance, answer: sealed } = record
  if (!call.repeats(attempt, record.maxBytes)) throw keyReused(attempt)
  if (attempt.state === 'reserved' || attempt.state === 'sending') throw keyInUse(attempt)
  if (attempt.state !== 'settled' || attempt.outcome !== 'delivered' || !sealed)
    throw await endedWithoutAnswer(parts, record)
  let answer: Answer
  try {
    answer = call.open(attempt, sealed)
  } catch (thrown) {
    parts.log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'a kept answer could not be opened')
    throw await endedWithoutAnswer(parts, record)
  }
  return { attempt, answer, receipt: toReceipt(parts.baseUrl, await receiptOf(parts, record)), balance }
}

/** The receipt of a repeat, the same for all repeats of one attempt: nobody fills the store by asking again. */
async function receiptOf({ store, ...parts }: ReplayParts, record: KeyRecord): Promise<StoredReceipt> {
  const { replayReceiptId, attempt } = record
  const earlier = replayReceiptId === null ? undefined : await store.getReceipt(replayReceiptId)
  if (earlier) return earlier
  const receipt = signReplay(parts, attempt)
  const standing = await store.keepReplayReceipt({ attemptId: attempt.id, receipt })
  return (standing !== undefined && standing !== receipt.id && (await store.getReceipt(standing))) || receipt
}

/** What the first receipt said of request and response, for nothing, with the word that it is a repeat. */
function signReplay({ signer, baseUrl, now }: Omit<ReplayParts, 'store'>, attempt: Attempt): StoredReceipt {
  const at = now()
  const id = newId('rcp', at)
  const { kind } = attempt
  const jws = signer.sign(JWS_TYPES.receipt, {
    iss: baseUrl,
    iat: Math.floor(at / 1000),
    jti: id,
    action: kind === 'action' ? 'actions.execute' : 'egress.fetch',
    replayed: true,
    replay_of: attempt.receiptId ?? undefined,
    attempt_id: attempt.id,
    capability_id: attempt.capabilityId ?? undefined,
    permit_id: attempt.permitId ?? undefined,
    credential_id: attempt.credentialId ?? undefined,
    credential_version: attempt.credentialVersion ?? undefined,
    charge: { amount: 0, unit: 'credit' },
    state: attempt.state,
    outcome: attempt.outcome,
    request: { digest: attempt.requestDigest, host: attempt.host, method: attempt.method },
    response: { digest: attempt.responseDigest, leak_gate: 'clean', status: attempt.upstreamStatus },
    times: {
      created_at: toTimestamp(attempt.createdAt),
      finished_at: attempt.finishedAt === null ? undefined : toTimestamp(attempt.finishedAt),
      replayed_at: toTimestamp(at),
    },
  })
  return { id, accountId: attempt.accountId, jws, createdAt: at }
}

const keyReused = ({ id }: Attempt) =>
  new GatewayError(
    'idempotency_key_reused',
    'This idempotency key was used for another request: method, URL, headers, body and max_bytes must be the same. Nothing was ' +
      'sent or charged. Use a new key for a new request.',
    { extras: { attempt_id: id } },
  )

const keyInUse = ({ id }: Attempt) =>
  new GatewayError(
    'idempotency_key_in_use',
    'The first request under this idempotency key is still under way. Nothing was sent or charged for this one. Send it again ' +
      'in a moment, under the same key, for the answer of the first.',
    { extras: { attempt_id: id, retry_after_seconds: 1 } },
  )

const WORDS = {
  outcome_ambiguous:
    'The request under this idempotency key went out and no answer came, so it may or may not have been carried out. It is not sent ' +
    'again under this key. Look the attempt up and check with the upstream; to send it again all the same, use a new key.',
  secret_reflected:
    'The request under this idempotency key was carried out; its response contained the credential, so it was withheld.',
  response_too_large:
    'The request under this idempotency key was carried out; its response was larger than allowed.',
  response_unacceptable:
    'The request under this idempotency key was carried out; its response could not be passed on.',
  idempotency_answer_gone:
    'The request under this idempotency key was carried out, but its answer was not kept. It is not sent again under this key: ' +
    'ask the upstream for the result, or look the attempt up.',
} as const

/** The way in which an attempt ended that was charged and has no answer, by the word of its outcome. */
function codeOf({ state, outcome }: Attempt): keyof typeof WORDS {
  if (state === 'ambiguous') return 'outcome_ambiguous'
  switch (outcome) {
    case 'secret_reflected':
    case 'response_too_large':
      return outcome
    case 'delivered':
      return 'idempotency_answer_gone'
    default:
      return outcome?.startsWith('response_') ? 'response_unacceptable' : 'idempotency_answer_gone'
  }
}

async function endedWithoutAnswer(
  { store, baseUrl }: ReplayParts,
  { attempt, balance }: KeyRecord,
): Promise<GatewayError> {
  const code = codeOf(attempt)
  const receipt = attempt.receiptId === null ? undefined : await store.getReceipt(attempt.receiptId)
  return new GatewayError(code, `${WORDS[code]} This repeat cost nothing.`, {
    reason: 'replayed',
    extras: {
      attempt_id: attempt.id,
      ...(attempt.idempotencyKey !== null && { idempotency_key: attempt.idempotencyKey }),
      ...(attempt.upstreamStatus !== null && { upstream_status: attempt.upstreamStatus }),
      ...(receipt && { receipt: toReceipt(baseUrl, receipt) }),
      credits: { charged: 0, balance },
      replayed: true,
    },
  })
}
