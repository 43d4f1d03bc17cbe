// x402: which field says what, for v1 and v2 over HTTP, MCP and A2A. detect.ts finds the document; this reads it.
import { judgeCredential, readJws } from '../decode/jws.ts'
import {
  inside,
  isObject,
  pick,
  pickBoolean,
  pickList,
  pickNumber,
  pickNumeral,
  pickObject,
  pickText,
  toSeconds,
} from '../decode/value.ts'
import type { Found, Json, JsonObject, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { envelopeOf, findTaskId, readMetaKey } from '../wire/envelopes.ts'
import type { X402Authorization, X402Facts, X402Offer, X402Requirement } from './facts.ts'
import { findTokenAccount, readSolanaTransaction } from './solana.ts'
import { readX402Shape, toCaip2, type X402Method, type X402Shape } from './shape.ts'

/** Every field of the document that detection found; one that is not there or has the wrong type is null. */
export function readX402({ layer }: Sighting<unknown>, reading: Reading): X402Facts {
  const document: Found<JsonObject> | null = layer.document ?? null
  const stage =
    layer.stage === 'challenge' || layer.stage === 'settlement'
      ? (layer.stage as X402Facts['stage'])
      : 'payment'
  const version = pickNumber(document, 'x402Version')
  const accepts =
    stage === 'challenge'
      ? pickList(document, 'accepts').map((one) => readRequirement(one, version?.value))
      : []
  const shape = readX402Shape(document?.value)
  const accepted = stage === 'payment' ? readAccepted(document, shape) : null
  const payload = pickObject(document, 'payload')
  const envelope = envelopeOf(reading, document?.at)
  const identifier = pickObject(document, 'extensions', 'payment-identifier')
  const offerReceipt = pickObject(document, 'extensions', 'offer-receipt')
  return {
    stage,
    version,
    resource:
      pickText(document, 'resource', 'url') ?? pickText(document, 'resource') ?? accepts[0]?.resource ?? null,
    accepted,
    accepts,
    signature: judgeCredential(pick(payload, 'signature') ?? readSealed(payload, shape.method)),
    authorization: stage === 'payment' ? readAuthorization(payload, shape.method, accepted) : null,
    identifier: identifier && {
      at: identifier.at,
      id: pickText(identifier, 'info', 'id'),
      required: pickBoolean(identifier, 'info', 'required'),
      hasInfo: pickObject(identifier, 'info') !== null,
    },
    offerReceipt,
    offers: pickList(offerReceipt, 'info', 'offers').map(readOffer),
    settlement: stage === 'settlement' ? readSettlement(document, offerReceipt) : null,
    toolName: layer.transport === 'mcp' ? pickText(envelope?.params ?? null, 'name') : null,
    taskId: layer.transport === 'a2a' ? findTaskId(envelope) : null,
  }
}

/** v2 says `accepted`; v1 has its scheme and network at the top. */
function readAccepted(
  document: Found<JsonObject> | null,
  { choiceIn, version }: X402Shape,
): X402Requirement | null {
  const accepted = choiceIn === 'accepted' ? pickObject(document, 'accepted') : null
  if (accepted !== null) return readRequirement(accepted, version)
  const isNamed = pickText(document, 'scheme') !== null || pickText(document, 'network') !== null
  return document !== null && isNamed ? readRequirement(document, version) : null
}

/** @param version of the document: the amount of the other version counts only where its own is not there */
export function readRequirement(from: Found<Json>, version: number | null | undefined): X402Requirement {
  const ofV1 = pickNumeral(from, 'maxAmountRequired')
  const ofV2 = pickNumeral(from, 'amount')
  const network = pickText(from, 'network')
  const caip2 = network === null ? null : toCaip2(network.value)
  return {
    at: from.at,
    scheme: pickText(from, 'scheme'),
    network,
    isCaip2: network !== null && caip2 === network.value,
    caip2,
    amount: version === 1 ? (ofV1 ?? ofV2) : (ofV2 ?? ofV1),
    asset: pickText(from, 'asset'),
    payTo: pickText(from, 'payTo'),
    maxTimeoutSeconds: pickNumeral(from, 'maxTimeoutSeconds'),
    resource: pickText(from, 'resource'),
    extra: pickObject(from, 'extra'),
  }
}

function readAuthorization(
  payload: Found<JsonObject> | null,
  method: X402Method | null,
  accepted: X402Requirement | null,
): X402Authorization | null {
  const eip3009 = method === 'eip3009' || method === 'several' ? pickObject(payload, 'authorization') : null
  if (eip3009 !== null)
    return {
      kind: 'eip3009',
      at: eip3009.at,
      from: pickText(eip3009, 'from'),
      to: pickText(eip3009, 'to'),
      amount: pickNumeral(eip3009, 'value'),
      asset: null,
      spender: null,
      facilitator: null,
      nonce: readNonce(eip3009),
      notBefore: pickNumeral(eip3009, 'validAfter'),
      expiresAt: pickNumeral(eip3009, 'validBefore'),
      isSealed: false,
      alongside: [],
    }
  const permit2 = method === 'permit2' ? pickObject(payload, 'permit2Authorization') : null
  if (permit2 !== null)
    return {
      kind: 'permit2',
      at: permit2.at,
      from: pickText(permit2, 'from'),
      to: pickText(permit2, 'witness', 'to'),
      amount: pickNumeral(permit2, 'permitted', 'amount'),
      asset: pickText(permit2, 'permitted', 'token'),
      spender: pickText(permit2, 'spender'),
      facilitator: pickText(permit2, 'witness', 'facilitator'),
      nonce: readNonce(permit2),
      notBefore: pickNumeral(permit2, 'witness', 'validAfter'),
      expiresAt: pickNumeral(permit2, 'deadline'),
      isSealed: false,
      alongside: [],
    }
  const sealed = readSealed(payload, method)
  if (sealed === null) return null
  const nothing = {
    to: null,
    amount: null,
    asset: null,
    spender: null,
    facilitator: null,
    nonce: null,
    notBefore: null,
    expiresAt: null,
  }
  const from = pickText(payload, 'delegator')
  const opened = readSolana(sealed, accepted)
  return { kind: 'transaction', at: sealed.at, from, ...nothing, isSealed: true, alongside: [], ...opened }
}

/** What a transaction of Solana moves, where it can be read. Who is paid is payTo where the account that is paid is theirs. */
function readSolana(
  { value, at }: Found<Json>,
  accepted: X402Requirement | null,
): Partial<X402Authorization> | undefined {
  if (accepted?.caip2?.startsWith('solana:') !== true || typeof value !== 'string') return undefined
  const transaction = readSolanaTransaction(value)
  if (transaction === undefined) return undefined
  const { transfers, doesMore } = transaction
  const [transfer] = transfers
  const feePayer = pickText(accepted.extra, 'feePayer')?.value ?? null
  const place = inside(at)
  const alongside = [
    ...(transfers.length > 1 ? ['a second transfer'] : []),
    ...(doesMore ? ['an instruction that is no transfer of a token'] : []),
    ...(transfer?.authority === feePayer ? ['a transfer of the fee payer itself'] : []),
  ]
  if (transfer === undefined) return { isSealed: false, alongside: [...alongside, 'no transfer of a token'] }
  const payTo = accepted.payTo?.value
  const isPaid = payTo !== undefined && findTokenAccount(payTo, transfer) === transfer.destination
  return {
    from: { value: transfer.authority, at: place },
    to: { value: isPaid ? payTo : transfer.destination, at: place },
    amount: { value: String(transfer.amount), at: place, isInteger: true, isNumber: false },
    asset: { value: transfer.mint, at: place },
    isSealed: false,
    alongside,
  }
}

/** What was signed as a whole. A group of Algorand is told by its first transaction. */
function readSealed(payload: Found<JsonObject> | null, method: X402Method | null): Found<Json> | null {
  if (method === 'erc7710') return pickText(payload, 'permissionContext')
  if (method !== 'transaction') return null
  return (
    pickText(payload, 'transaction') ??
    pickText(payload, 'block') ??
    pickList(payload, 'paymentGroup')[0] ??
    null
  )
}

/** Hex text, or a uint256 as text or number. */
function readNonce(from: Found<JsonObject>): Found<string> | null {
  const numeral = pickNumeral(from, 'nonce')
  return numeral && { value: numeral.value, at: numeral.at }
}

function readOffer(from: Found<Json>): X402Offer {
  const format = pickText(from, 'format')
  const signature = pickText(from, 'signature')
  const jws =
    format?.value === 'eip712' || signature === null ? undefined : readJws(signature.value, signature.at)
  const terms = format?.value === 'eip712' ? pickObject(from, 'payload') : (jws?.payload ?? null)
  return {
    at: from.at,
    format,
    acceptIndex: pickNumber(from, 'acceptIndex'),
    signature: judgeCredential(signature),
    terms: terms && {
      at: terms.at,
      resourceUrl: pickText(terms, 'resourceUrl'),
      scheme: pickText(terms, 'scheme'),
      network: pickText(terms, 'network'),
      asset: pickText(terms, 'asset'),
      payTo: pickText(terms, 'payTo'),
      amount: pickNumeral(terms, 'amount'),
      validUntil: pickNumeral(terms, 'validUntil'),
    },
  }
}

function readSettlement(
  document: Found<JsonObject> | null,
  offerReceipt: Found<JsonObject> | null,
): X402Facts['settlement'] {
  return {
    success: pickBoolean(document, 'success'),
    transaction: pickText(document, 'transaction'),
    network: pickText(document, 'network'),
    payer: pickText(document, 'payer'),
    hasReceipt: isObject(pick(offerReceipt, 'info', 'receipt')?.value),
  }
}

/** The signed values come before those that were asked for: they are what can be taken. */
export function summariseX402({ facts, layer, reading }: Stated<X402Facts>): TransactionFacts {
  const { authorization, settlement } = facts
  const requirement = facts.accepted ?? facts.accepts[0] ?? null
  const amount =
    authorization?.amount ??
    requirement?.amount ??
    (settlement && pickNumeral(layer.document ?? null, 'amount'))
  const network = requirement?.network ?? settlement?.network ?? null
  const envelope = layer.transport === 'http' ? undefined : envelopeOf(reading, layer.document?.at)
  return {
    amount,
    amountIsInteger: amount?.isInteger === true,
    currency: null,
    asset: authorization?.asset ?? requirement?.asset ?? null,
    network: network && {
      at: network.at,
      value: requirement?.caip2 ?? toCaip2(network.value) ?? network.value,
    },
    scheme: requirement?.scheme ?? null,
    payee: authorization?.to ?? requirement?.payTo ?? null,
    payer: authorization?.from ?? settlement?.payer ?? null,
    resource: facts.resource,
    notBefore: toSeconds(authorization?.notBefore ?? null),
    expiresAt: toSeconds(authorization?.expiresAt ?? null),
    nonce: authorization?.nonce ?? null,
    idempotencyKey: facts.identifier?.id ?? readMetaKey(envelope) ?? reading.http.idempotencyKey,
    credentials: [
      ...(facts.stage === 'payment' && layer.document?.at.startsWith('/headers/') === true
        ? [layer.document.at.slice(0, -1)]
        : []),
      ...(facts.signature === null ? [] : [facts.signature.at]),
    ],
  }
}
