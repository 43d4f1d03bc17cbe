// Message -> Analysis: every protocol and envelope that shows itself, what each of them says, and which of them the transaction
// is about. It is made once for a message and passed along; a protocol knows where it shows and what it says (its folder), and
// the order between several and what contradicts is decided here.
import { bindHttp } from './wire/bind.ts'
import { digestBody } from './wire/digests.ts'
import { readEnvelopes } from './wire/envelopes.ts'
import { readHttp } from './wire/http.ts'
import { findOtherLayers } from './wire/layers.ts'
import { hasRepeatedMember } from '../lib/json.ts'
import {
  MAX_FIELDS_OF_A_NAME,
  NO_FACTS,
  type Binding,
  type Conflict,
  type Detection,
  type Layer,
  type Message,
  type Place,
  type TransactionFacts,
} from './ports.ts'
import { conflict, type Protocol, ROLES, type Sighting, type Stated } from './protocol.ts'
import type { Reading } from './reading.ts'
import { findLacks, type Lack } from './signed-members.ts'
import { PROTOCOLS } from './protocols.ts'

/** A protocol that the message speaks, and what it says there. */
export interface Spoken extends Stated<unknown> {
  readonly protocol: Protocol
}

/** A message with all that is known of it, for whoever judges it. Nothing of it is kept anywhere else. */
export interface Analysis extends Reading {
  /** The primary protocol first. */
  readonly spoken: readonly Spoken[]
  readonly primary: Spoken | undefined
  readonly detection: Detection
  /** Statements that have to agree, each pair compared once. */
  readonly bindings: readonly Binding[]
  /** Members that what was signed lacks. */
  readonly lacks: readonly Lack[]
}

/** The nearest to the money first. */
const inOrder = (protocols: readonly Protocol[]): readonly Protocol[] =>
  protocols.toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role))

const IN_ORDER = inOrder(PROTOCOLS)

/**
 * Never throws. The work is linear in the size of the message.
 * @param protocols those that are looked for, where not all of them are
 */
export function analyse(message: Message, protocols?: readonly Protocol[]): Analysis {
  const reading: Reading = {
    message,
    http: readHttp(message),
    envelopes: readEnvelopes(message),
    digests: digestBody(message.body),
  }
  const seen = (protocols === undefined ? IN_ORDER : inOrder(protocols)).flatMap((protocol) => {
    const sighting = protocol.detect(reading)
    return sighting === undefined ? [] : [{ protocol, sighting }]
  })
  const spoken = seen.map(({ protocol, sighting }) => state(protocol, sighting, reading))
  const others = findOtherLayers(reading).filter(({ name }) =>
    spoken.every(({ layer }) => layer.name !== name),
  )
  const [primary] = spoken
  return {
    ...reading,
    spoken,
    primary,
    detection: {
      protocol: primary?.protocol.name ?? 'unknown',
      primary: primary?.layer,
      version: primary?.layer.version ?? null,
      transport: primary?.layer.transport ?? null,
      stage: primary?.layer.stage ?? null,
      confidence: primary?.layer.confidence ?? 'low',
      layers: [...spoken.map(({ layer }) => layer), ...others],
      facts: mergeFacts(spoken, reading),
      conflicts: [
        ...seen.flatMap(({ sighting }) => sighting.conflicts),
        ...findLayerConflicts(spoken, others),
        ...findRepeatedHeaders(message),
        ...findRepeatedMembers(message),
      ],
    },
    bindings: [...bindHttp(reading), ...spoken.flatMap((one) => one.protocol.bind(one))],
    lacks: spoken.flatMap((one) => one.protocol.listSigned?.(one) ?? []).flatMap(findLacks),
  }
}

const state = (protocol: Protocol, sighting: Sighting<unknown>, reading: Reading): Spoken => ({
  protocol,
  layer: sighting.layer,
  facts: protocol.read(sighting, reading),
  reading,
})

/** The facts of the primary protocol; what it does not say, a mandate beside it may. */
function mergeFacts(spoken: readonly Spoken[], reading: Reading): TransactionFacts {
  const [primary, ...rest] = spoken
  const own = primary?.protocol.summarise(primary) ?? {
    ...NO_FACTS,
    idempotencyKey: reading.http.idempotencyKey,
  }
  const credentials = new Set<Place>([...own.credentials, ...findAuthorizations(reading.message)])
  const mandated = rest.find(({ protocol }) => protocol.role === 'mandate')
  if (mandated === undefined) return { ...own, credentials: [...credentials] }
  const mandate = mandated.protocol.summarise(mandated)
  for (const at of mandate.credentials) credentials.add(at)
  const hasAmount = own.amount !== null
  return {
    ...own,
    amount: own.amount ?? mandate.amount,
    amountIsInteger: hasAmount ? own.amountIsInteger : mandate.amountIsInteger,
    currency: own.currency ?? (hasAmount ? null : mandate.currency),
    payee: own.payee ?? mandate.payee,
    expiresAt: own.expiresAt ?? mandate.expiresAt,
    nonce: own.nonce ?? mandate.nonce,
    credentials: [...credentials],
  }
}

const AUTHORIZATIONS = [
  'authorization',
  'payment-authorization',
  'proxy-authorization',
  'payment-signature',
  'x-payment',
]

const findAuthorizations = (message: Message): Place[] =>
  message.headers.filter(({ name }) => AUTHORIZATIONS.includes(name)).map(({ at }) => at)

/** Two payments at once leave open which one is meant. Two offers to choose from are fine. */
function findLayerConflicts(spoken: readonly Spoken[], others: readonly Layer[]): Conflict[] {
  const ofRole = (role: string) =>
    spoken.filter(({ protocol }) => protocol.role === role).map(({ layer }) => layer)
  const paying = [...ofRole('payment'), ...others.filter(({ name }) => name === 'l402')]
  return [paying.filter(({ stage }) => stage === 'payment'), ofRole('checkout')].flatMap(([first, ...rest]) =>
    rest.map((other) =>
      conflict(
        'DETECT-CONFLICT',
        other.evidence[0]?.at ?? '/headers',
        `The message is ${other.name} as well as ${first?.name}: one of them has to go.`,
      ),
    ),
  )
}

/** Fields that may be there once; two of them are read differently by two readers. */
const SINGLE = new Set(
  (
    'authorization payment-authorization host content-type content-length content-digest idempotency-key request-id ' +
    'ucp-agent api-version timestamp merchant-signature mcp-protocol-version mcp-method mcp-name mcp-session-id ' +
    'payment-receipt webhook-id webhook-timestamp'
  ).split(' '),
)

function findRepeatedHeaders(message: Message): Conflict[] {
  const found: Conflict[] = []
  let before: string | undefined
  for (const { name, at } of message.headers) {
    if (name === before && SINGLE.has(name))
      found.push(conflict('HEADER_CONFLICT', at, `More than one ${name} field.`))
    before = name
  }
  for (const at of message.unreadHeaders)
    found.push(
      conflict(
        'HEADER_CONFLICT',
        at,
        `More than ${MAX_FIELDS_OF_A_NAME} fields of one name: this one and those behind it were not read.`,
      ),
    )
  return found
}

/** The text alone tells, because what was parsed has each member once. */
const findRepeatedMembers = ({ body }: Message): Conflict[] =>
  body.kind === 'json' && body.raw !== undefined && hasRepeatedMember(body.raw, body.value)
    ? [
        conflict(
          'DETECT-CONFLICT',
          '/body',
          'The body names a member twice: two readers could read two messages.',
        ),
      ]
    : []
