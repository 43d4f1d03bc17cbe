// MPP, the `Payment` HTTP authentication scheme, shows itself by header fields, `_meta` of JSON-RPC, the error with challenges.
import { isAmbiguous } from '../decode/json.ts'
import { inside, pick, pickList, pickObject, pickText, pointer } from '../decode/value.ts'
import { isOversize } from '../message.ts'
import type { Conflict, Evidence, HeaderField, JsonObject } from '../ports.ts'
import { conflict, type Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import type { Envelope } from '../wire/envelopes.ts'
import { readAuth } from '../wire/http.ts'
import { decode, findChallenge } from './challenge.ts'
import type { MppSight } from './facts.ts'

const CORE_VERSION = 'draft-httpauth-payment-00'
/** Methods with a draft of their own. */
const METHODS = new Set(
  'canton card cashu evm hedera initia lightning megaeth nearintents sei solana stellar stripe tempo usdc xrpl'.split(
    ' ',
  ),
)
const RANK: Readonly<Record<MppSight['stage'], number>> = { payment: 0, settlement: 1, challenge: 2 }

const readSights = (reading: Reading): readonly MppSight[] =>
  [
    ...reading.message.headers.flatMap((field) => sightHeader(field, reading)),
    ...reading.envelopes.flatMap((found) => sightEnvelope(found, reading)),
  ].toSorted(
    (a, b) =>
      RANK[a.stage] - RANK[b.stage] || Number(b.document !== undefined) - Number(a.document !== undefined),
  )

/** Payment is required, and it was refused (draft-payment-transport-mcp-00, "Error Code Mapping"). */
const PAYMENT_ERRORS: ReadonlySet<unknown> = new Set([-32042, -32043])

/** A credential is what a message is about, then a receipt, then a challenge; what decodes comes before what does not. */
export function detectMpp(reading: Reading): Sighting<readonly MppSight[]> | undefined {
  const sights = readSights(reading)
  const [first] = sights
  if (first === undefined) return undefined
  const challenge = findChallenge(first)
  const method = pickText(challenge, 'method')?.value
  const intent = pickText(challenge, 'intent')?.value
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
    conflicts: findConflicts(reading, sights),
    sights,
  }
}

const describe = ({ what, document, at }: MppSight): Evidence => ({
  mark: document === undefined ? `${what} is there and does not decode` : `${what} decodes`,
  at,
})

function findConflicts({ http }: Reading, sights: readonly MppSight[]): Conflict[] {
  const conflicts = sights
    .filter(({ stage }) => stage === 'payment')
    .slice(1)
    .map(({ at }) => conflict('DUPLICATE_PAYMENT', at, 'More than one MPP credential: a server answers 400.'))
  for (const { at, isAmbiguous } of sights)
    if (isAmbiguous === true)
      conflicts.push(
        conflict('DUPLICATE_PAYMENT', at, 'It names a member twice: two readers could read two payments.'),
      )
  for (const { field, challenges } of http.challenges)
    if (challenges.some(({ scheme, hasRepeatedParam }) => scheme === 'payment' && hasRepeatedParam))
      conflicts.push(conflict('HEADER_CONFLICT', field.at, 'A challenge names one of its parameters twice.'))
  return conflicts
}

function sightHeader(field: HeaderField, { http }: Reading): MppSight[] {
  const { at } = field
  // Many servers read an underscore as a hyphen.
  const name = field.name.replaceAll('_', '-')
  if (name === 'authorization' || name === 'payment-authorization') return sightCredentials(field)
  if (name === 'www-authenticate') {
    const challenges = http.challenges.find((one) => one.field === field)?.challenges ?? []
    return challenges.flatMap(({ scheme, params }, index) => {
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
  }
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

function sightCredentials(field: HeaderField): MppSight[] {
  const { at, value } = field
  // A header without the scheme belongs to another one; the check comes first because it costs nothing.
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
        isAmbiguous: token68 !== undefined && document !== undefined && isAmbiguous(token68, document.value),
      }
    })
}

function sightEnvelope(envelope: Envelope, { message }: Reading): MppSight[] {
  const found: MppSight[] = []
  for (const meta of envelope.paymentMetas) {
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
    PAYMENT_ERRORS.has(pick(envelope.error, 'code')?.value) &&
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
        what: `error ${String(pick(envelope.error, 'code')?.value)} with challenges`,
        at: item.at,
        document: pickObject(item) ?? undefined,
        credentialAt: null,
      })
  }
  return found
}
