// MPP, over HTTP and JSON-RPC: challenge, credential, receipt, field by field.
import { type Credential, judgeCredential } from '../decode/jws.ts'
import { instantSeconds, pick, pickObject, pickText } from '../decode/value.ts'
import type { Found, Json, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { envelopeOf, readMetaKey } from '../wire/envelopes.ts'
import { readChallenge, readEchoedChallenge } from './challenge.ts'
import type { MppFacts, MppSight } from './facts.ts'

/** Facts of the first sight of the message, and every challenge where it is one. */
export function readMpp({ layer, sights }: Sighting<readonly MppSight[]>, reading: Reading): MppFacts {
  const [sight] = sights
  const document = layer.document ?? null
  const stage = sight?.stage ?? 'payment'
  const challenge = sight === undefined ? null : readEchoedChallenge(sight)
  const challenges =
    stage === 'challenge'
      ? sights.flatMap((one) =>
          one.stage === 'challenge' && one.document !== undefined ? [readChallenge(one.document)] : [],
        )
      : challenge === null
        ? []
        : [challenge]
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
]

/** Methods name their proof differently; one of them has to be there. */
function readProof(payload: Found<Json> | null): Credential | null {
  if (payload === null) return null
  if (typeof payload.value === 'string') return judgeCredential(payload)
  for (const name of PROOFS) {
    const proof = judgeCredential(pick(payload, name)) ?? judgeCredential(pick(payload, name, 'signature'))
    if (proof !== null) return proof
  }
  return null
}

/** The facts that policy asks of any transaction, out of MPP. Its currency is a code of letters or the address of a token. */
export function summariseMpp({ facts }: Stated<MppFacts>): TransactionFacts {
  const { challenge } = facts
  const currency = challenge?.currency ?? null
  // A code of letters, or the address of a token.
  const isCode = currency !== null && /^[A-Za-z]{3,5}$/.test(currency.value)
  const chainId = challenge?.chainId ?? null
  return {
    amount: challenge?.amount ?? null,
    amountIsInteger: challenge?.amount?.isInteger === true,
    currency: isCode ? { value: currency.value.toUpperCase(), at: currency.at } : null,
    asset: isCode ? null : currency,
    network: chainId?.isInteger === true ? { value: `eip155:${chainId.value}`, at: chainId.at } : null,
    scheme: null,
    payee: challenge?.recipient ?? null,
    payer: facts.source,
    resource: null,
    notBefore: null,
    expiresAt: instantSeconds(challenge?.expires ?? null),
    nonce: challenge?.id ?? null,
    idempotencyKey: facts.idempotencyKey,
    credentials: facts.credentials,
  }
}
