// MPP, over HTTP and JSON-RPC: challenge, credential, receipt, field by field.
import { type Credential, judgeCredential } from '../decode/jws.ts'
import {
  instantSeconds,
  pick,
  pickList,
  pickNumeral,
  pickObject,
  pickText,
  toSeconds,
} from '../decode/value.ts'
import type { Found, Json, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { envelopeOf, readMetaKey } from '../wire/envelopes.ts'
import { findChallenge, readChallenge } from './challenge.ts'
import type { MppFacts, MppSight } from './facts.ts'
import { readPayload, type MppPayload, type MppTaking } from './payload.ts'

/** Facts of the first sight of the message, and every challenge where it is one. */
export function readMpp({ layer, sights }: Sighting<readonly MppSight[]>, reading: Reading): MppFacts {
  const [sight] = sights
  const document = layer.document ?? null
  const stage = sight?.stage ?? 'payment'
  // Those that decode come first.
  const challenges = sights
    .filter((one) => one === sight || (stage === 'challenge' && one.stage === stage))
    .flatMap((one) => findChallenge(one) ?? [])
    .map(readChallenge)
  const challenge = challenges[0] ?? null
  const payload = stage === 'payment' ? pick(document, 'payload') : null
  const envelope = layer.transport === 'http' ? undefined : envelopeOf(reading, document?.at)
  return {
    stage,
    isLegacy: stage === 'payment' && document !== null && pickObject(document, 'challenge') === null,
    isJsonRpc: layer.transport !== 'http',
    challenge,
    challenges,
    source: stage === 'payment' ? pickText(document, 'source') : null,
    payloadAt: payload?.at ?? null,
    payload: readPayload(payload),
    proof: readProof(payload),
    receipt:
      stage === 'settlement' && document !== null
        ? {
            at: document.at,
            status: pickText(document, 'status'),
            method: pickText(document, 'method'),
            timestamp: pickText(document, 'timestamp'),
            reference: pickText(document, 'reference'),
            externalId: pickText(document, 'externalId'),
          }
        : null,
    idempotencyKey: readMetaKey(envelope) ?? reading.http.idempotencyKey,
    credentials: sights.flatMap(({ credentialAt }) => credentialAt ?? []),
  }
}

const PROOFS = [
  'signature',
  'proof',
  'hash',
  'spt',
  'transaction',
  'preimage',
  'encryptedPayload',
  'token',
  'voucher',
  'voucherSignature',
  'txHash',
  'transactionId',
  'topUpPreimage',
  'authentication',
  'authorization',
  'paymentMethod',
]

/** Methods name their proof differently; one of them has to be there. */
function readProof(payload: Found<Json> | null): Credential | null {
  if (payload === null) return null
  if (typeof payload.value === 'string') return judgeCredential(payload)
  for (const name of PROOFS) {
    const proof = judgeCredential(pick(payload, name)) ?? judgeCredential(pick(payload, name, 'signature'))
    if (proof !== null) return proof
  }
  // solana in parts, and Circle Gateway.
  const [transaction] = pickList(payload, 'transactions')
  return judgeCredential(transaction ?? pick(payload, 'authorization', 'transfer', 'signature'))
}

/**
 * The facts that policy asks of any transaction, out of MPP: of a challenge what it asks, of a credential what its payload lets be taken,
 * the largest where there are several.
 */
export function summariseMpp({ facts }: Stated<MppFacts>): TransactionFacts {
  const { challenge, payload } = facts
  const taking = payload === null ? undefined : findLargest(payload.takings)
  const amount = taking?.amount ?? challenge?.amount ?? null
  const token = taking?.token ?? null
  const pull = payload?.pulls[0]
  return {
    amount,
    amountIsInteger: amount?.isInteger === true,
    currency: token === null ? (challenge?.currency ?? null) : null,
    asset: token ?? challenge?.asset ?? null,
    network: challenge?.network ?? null,
    scheme: null,
    payee: taking?.payee ?? challenge?.recipient ?? null,
    payer: facts.source ?? payload?.channel.payer ?? pull?.from ?? null,
    resource: null,
    notBefore: toSeconds(pull?.validAfter ?? null),
    expiresAt: findEnd(facts),
    nonce: challenge?.id ?? null,
    idempotencyKey: facts.idempotencyKey,
    credentials: facts.credentials,
  }
}

/** What is no integer comes first, because nothing can be said of it. */
function findLargest(takings: readonly MppTaking[]): MppTaking | undefined {
  const odd = takings.find(({ amount }) => !amount.isInteger)
  return (
    odd ??
    takings.reduce<MppTaking | undefined>(
      (largest, one) =>
        largest === undefined || BigInt(one.amount.value) > BigInt(largest.amount.value) ? one : largest,
      undefined,
    )
  )
}

/** Whatever was signed can be used until the last of its ends, whenever the challenge ends. */
function findEnd({ challenge, payload }: MppFacts): Found<number> | null {
  const ends = [instantSeconds(challenge?.expires ?? null), ...listEnds(payload)].filter(
    (end) => end !== null,
  )
  return ends.reduce<Found<number> | null>(
    (last, end) => (last === null || end.value > last.value ? end : last),
    null,
  )
}

const listPullEnds = ({ pulls, object }: MppPayload): (Found<number> | null)[] => [
  ...pulls.map(({ validBefore }) => toSeconds(validBefore)),
  toSeconds(pickNumeral(object, 'permit', 'deadline')),
]

/** Ends of what the payload signs. A voucher that ends at 0 never does. */
export const listEnds = (payload: MppPayload | null): Found<number>[] =>
  payload === null
    ? []
    : [...listPullEnds(payload), toSeconds(payload.voucherExpiresAt)].filter(
        (end): end is Found<number> => end !== null && end.value > 0,
      )
