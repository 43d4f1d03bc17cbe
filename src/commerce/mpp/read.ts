// MPP, the `Payment` HTTP authentication scheme, and the same over JSON-RPC: challenge, credential, receipt.
import { isAmbiguous, readBase64Json } from '../decode/json.ts'
import { judgeCredential } from '../decode/jws.ts'
import {
  inside,
  instantSeconds,
  isObject,
  parseInstant,
  pick,
  pickList,
  pickNumeral,
  pickObject,
  pickText,
  pointer,
  remember,
  rememberLast,
} from '../decode/value.ts'
import { headersNamed, isOversize } from '../message.ts'
import type {
  Conflict,
  Found,
  HeaderField,
  Json,
  JsonObject,
  Layer,
  Message,
  Place,
  TransactionFacts,
} from '../ports.ts'
import { readAuth, readHttp } from '../protocols/http.ts'
import { readMetaKey } from '../mcp/read.ts'
import {
  conflict,
  envelopeOf,
  readEnvelopes,
  type Envelope,
  type Evidence,
  type Spotted,
} from '../protocols/spot.ts'
import type { Credential, MppChallenge, MppFacts } from '../protocols/types.ts'

type Stage = MppFacts['stage']

interface Sight {
  readonly stage: Stage
  readonly transport: 'http' | 'mcp' | 'jsonrpc'
  readonly what: string
  readonly at: Place
  readonly document: Found<JsonObject> | undefined
  /** Where a secret stands. */
  readonly credentialAt: Place | null
  readonly isAmbiguous?: boolean
}

const CORE_VERSION = 'draft-httpauth-payment-00'
/** Methods with a draft of their own. */
const METHODS = new Set(
  'canton card cashu evm hedera initia lightning megaeth nearintents sei solana stellar stripe tempo usdc xrpl'.split(
    ' ',
  ),
)
const RANK: Readonly<Record<Stage, number>> = { payment: 0, settlement: 1, challenge: 2 }

const readSights: (message: Message) => readonly Sight[] = rememberLast((message: Message) =>
  [
    ...message.headers.flatMap(sightHeader),
    ...readEnvelopes(message).flatMap((found) => sightEnvelope(found, message)),
  ].toSorted(
    (a, b) =>
      RANK[a.stage] - RANK[b.stage] || Number(b.document !== undefined) - Number(a.document !== undefined),
  ),
)

export function spotMpp(message: Message): Spotted | undefined {
  const sights = readSights(message)
  const first = sights[0]
  if (first === undefined) return undefined
  const challenge = readEchoedChallenge(first)
  const method = challenge?.method?.value
  const intent = challenge?.intent?.value
  const suffix =
    method !== undefined && METHODS.has(method) && intent !== undefined && /^[a-z]{2,24}$/.test(intent)
      ? ` + ${method}/${intent}`
      : ''
  return {
    layer: {
      name: 'mpp',
      version: CORE_VERSION + suffix,
      transport: first.transport,
      stage: first.stage,
      confidence: first.document === undefined ? 'medium' : 'high',
      evidence: sights.map(describe),
      document: first.document,
      isUndecodable: first.document === undefined,
    },
    conflicts: findConflicts(message, sights),
  }
}

const describe = ({ what, document, at }: Sight): Evidence => ({
  mark: document === undefined ? `${what} is there and does not decode` : `${what} decodes`,
  at,
})

function findConflicts(message: Message, sights: readonly Sight[]): Conflict[] {
  const conflicts = sights
    .filter(({ stage }) => stage === 'payment')
    .slice(1)
    .map(({ at }) => conflict('DUPLICATE_PAYMENT', at, 'More than one MPP credential: a server answers 400.'))
  for (const { at, isAmbiguous } of sights)
    if (isAmbiguous === true)
      conflicts.push(
        conflict('DUPLICATE_PAYMENT', at, 'It names a member twice: two readers could read two payments.'),
      )
  for (const field of headersNamed(message, 'www-authenticate'))
    if (readAuth(field).some(({ scheme, hasRepeatedParam }) => scheme === 'payment' && hasRepeatedParam))
      conflicts.push(conflict('HEADER_CONFLICT', field.at, 'A challenge names one of its parameters twice.'))
  return conflicts
}

function sightHeader(field: HeaderField): Sight[] {
  const { name, at } = field
  if (name === 'authorization' || name === 'payment-authorization') return sightCredentials(field)
  if (name === 'www-authenticate')
    return readAuth(field).flatMap(({ scheme, params }, index) => {
      if (scheme !== 'payment') return []
      const value = Object.assign(Object.create(null), Object.fromEntries(params)) as JsonObject
      const document = params.size === 0 ? undefined : { value, at: pointer(inside(at), index) }
      return [
        {
          stage: 'challenge',
          transport: 'http',
          what: 'header WWW-Authenticate: Payment',
          at,
          document,
          credentialAt: null,
        },
      ]
    })
  if (name !== 'payment-receipt') return []
  const document = decode(field.value, at, isOversize(field))
  return [
    {
      stage: 'settlement',
      transport: 'http',
      what: 'header Payment-Receipt',
      at,
      document,
      credentialAt: null,
    },
  ]
}

function sightCredentials(field: HeaderField): Sight[] {
  const { at, value } = field
  // Without the scheme it is another one's; the check comes first because it costs nothing.
  if (!/(?:^|[\s,])payment(?:[\s,]|$)/i.test(value.slice(0, isOversize(field) ? 64 : undefined))) return []
  const what =
    field.name === 'authorization' ? 'header Authorization: Payment' : 'header Payment-Authorization: Payment'
  const sight = { stage: 'payment', transport: 'http', what, at, credentialAt: at } as const
  if (isOversize(field)) return [{ ...sight, document: undefined }]
  return readAuth(field)
    .filter(({ scheme }) => scheme === 'payment')
    .map(({ token68 }) => {
      const document = token68 === undefined ? undefined : decode(token68, at, false)
      return {
        ...sight,
        document,
        isAmbiguous: document !== undefined && isAmbiguous(token68!, document.value),
      }
    })
}

function decode(text: string, at: Place, isTooLarge: boolean): Found<JsonObject> | undefined {
  const read = isTooLarge ? undefined : readBase64Json(text)
  return read?.ok === true && isObject(read.value) ? { value: read.value, at: inside(at) } : undefined
}

function sightEnvelope(envelope: Envelope, message: Message): Sight[] {
  const found: Sight[] = []
  for (const meta of envelope.metas) {
    const transport = meta.at === pointer(envelope.root.at, '_meta') ? 'jsonrpc' : 'mcp'
    const credential = pick(meta, 'org.paymentauth/credential')
    const receipt = pick(meta, 'org.paymentauth/receipt')
    if (credential !== null)
      found.push({
        stage: 'payment',
        transport,
        what: '_meta org.paymentauth/credential',
        at: credential.at,
        document: pickObject(credential) ?? undefined,
        credentialAt: pointer(credential.at, 'payload'),
      })
    if (receipt !== null)
      found.push({
        stage: 'settlement',
        transport,
        what: '_meta org.paymentauth/receipt',
        at: receipt.at,
        document: pickObject(receipt) ?? undefined,
        credentialAt: null,
      })
  }
  // MCP 2025-11-25 uses the same code to ask for URL elicitation: only the challenges tell.
  const challenges = pick(envelope.error, 'data', 'challenges')
  if (
    pick(envelope.error, 'code')?.value === -32042 &&
    challenges !== null &&
    Array.isArray(challenges.value)
  ) {
    const isMcp =
      message.header('mcp-protocol-version') !== undefined ||
      message.target.url?.pathname.endsWith('/mcp') === true
    for (const item of pickList(challenges))
      found.push({
        stage: 'challenge',
        transport: isMcp ? 'mcp' : 'jsonrpc',
        what: 'error -32042 with challenges',
        at: item.at,
        document: pickObject(item) ?? undefined,
        credentialAt: null,
      })
  }
  return found
}

const readEchoedChallenge = (sight: Sight): MppChallenge | null => {
  const document = sight.document ?? null
  if (sight.stage === 'challenge') return document && readChallenge(document)
  const echoed = sight.stage === 'payment' ? pickObject(document, 'challenge') : null
  if (echoed !== null) return readChallenge(echoed)
  // Legacy: the id stands beside the payload.
  return sight.stage === 'payment' && pickText(document, 'id') !== null ? readChallenge(document!) : null
}

const readChallenge: (from: Found<JsonObject>) => MppChallenge = remember((from: Found<JsonObject>) => {
  const request = pick(from, 'request')
  const decoded =
    request === null
      ? null
      : typeof request.value === 'string'
        ? (decode(request.value, request.at, false) ?? null)
        : pickObject(request)
  const expires = pickText(from, 'expires')
  const splits = pick(decoded, 'methodDetails', 'splits') ?? pick(decoded, 'splits')
  return {
    at: from.at,
    id: pickText(from, 'id'),
    realm: pickText(from, 'realm'),
    method: pickText(from, 'method'),
    intent: pickText(from, 'intent'),
    requestAt: request?.at ?? null,
    isRequestReadable: decoded !== null,
    expires,
    expiresAtMs: parseInstant(expires?.value),
    digest: pickText(from, 'digest'),
    opaque: pick(from, 'opaque'),
    description: pickText(from, 'description') ?? pickText(decoded, 'description'),
    amount: pickNumeral(decoded, 'amount'),
    currency: pickText(decoded, 'currency'),
    recipient: pickText(decoded, 'recipient'),
    chainId: pickNumeral(decoded, 'methodDetails', 'chainId') ?? pickNumeral(decoded, 'chainId'),
    splitsAt: splits?.at ?? null,
    splits: pickList(splits).map((split) => ({
      amount: pickNumeral(split, 'amount'),
      recipient: pickText(split, 'recipient'),
    })),
  }
})

export const readMpp: (layer: Layer, message: Message) => MppFacts = rememberLast(read)

function read(layer: Layer, message: Message): MppFacts {
  const sights = readSights(message)
  const sight = sights[0]
  const document = layer.document ?? null
  const stage = (sight?.stage ?? 'payment') as Stage
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
  const envelope = layer.transport === 'http' ? undefined : envelopeOf(message, document?.at)
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
    idempotencyKey: (envelope && readMetaKey(envelope)) ?? readHttp(message).idempotencyKey,
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

export function factsOfMpp(facts: MppFacts, message: Message): TransactionFacts {
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
    credentials: readSights(message).flatMap(({ credentialAt }) =>
      credentialAt === null ? [] : [credentialAt],
    ),
  }
}
