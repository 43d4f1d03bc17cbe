// Message -> Detection: every protocol and envelope that shows itself, and which of them the transaction is about. The
// protocols say where they show (protocols/*); the order between them and what contradicts is decided here.
import { countColons } from '../lib/json.ts'
import { headersNamed } from './message.ts'
import { factsOfAcp, readAcp, spotAcp } from './acp/read.ts'
import { factsOfAp2, readAp2, spotAp2 } from './ap2/read.ts'
import { readAuth, readHttp } from './protocols/http.ts'
import { factsOfMcp, NO_FACTS, readMcp, spotMcp } from './mcp/read.ts'
import { factsOfMpp, readMpp, spotMpp } from './mpp/read.ts'
import { conflict, plainLayer, readEnvelopes, type Spotted } from './protocols/spot.ts'
import { factsOfUcp, readUcp, spotUcp } from './ucp/read.ts'
import { factsOfX402, readX402, spotX402 } from './x402/read.ts'
import { outlineOf } from './decode/outline.ts'
import { rememberLast } from './decode/value.ts'
import {
  MAX_FIELDS_OF_A_NAME,
  type Conflict,
  type Detection,
  type Layer,
  type LayerName,
  type Message,
  type Place,
  type Protocol,
  type TransactionFacts,
} from './ports.ts'

/** In the order in which one of several is the primary. */
const PROTOCOLS: readonly {
  readonly name: Protocol
  readonly spot: (message: Message) => Spotted | undefined
}[] = [
  { name: 'x402', spot: spotX402 },
  { name: 'mpp', spot: spotMpp },
  { name: 'ucp', spot: spotUcp },
  { name: 'acp', spot: spotAcp },
  { name: 'ap2', spot: spotAp2 },
  { name: 'mcp', spot: spotMcp },
]

export const detect: (message: Message) => Detection = rememberLast((message: Message) => {
  const spotted: Spotted[] = []
  for (const { spot } of PROTOCOLS) {
    const found = spot(message)
    if (found !== undefined) spotted.push(found)
  }
  const primary = spotted[0]?.layer
  const envelopes = spotEnvelopes(message)
  const layers = spotted.length === 0 ? envelopes : [...spotted.map(({ layer }) => layer), ...envelopes]
  const found = [...findRepeatedHeaders(message), ...findRepeatedMembers(message)]
  return {
    protocol: primary === undefined ? 'unknown' : (primary.name as Protocol),
    primary,
    version: primary?.version ?? null,
    transport: primary?.transport ?? null,
    stage: primary?.stage ?? null,
    confidence: primary?.confidence ?? 'low',
    layers,
    facts: readFacts(primary, layers, message),
    conflicts:
      layers.length === 0
        ? found
        : [...spotted.flatMap(({ conflicts }) => conflicts), ...findLayerConflicts(layers), ...found],
  }
})

const isLayer = (name: LayerName) => (layer: Layer) => layer.name === name

/** The primary's own facts; what it does not say, a mandate inside it may. */
function readFacts(primary: Layer | undefined, layers: readonly Layer[], message: Message): TransactionFacts {
  const own =
    primary === undefined
      ? { ...NO_FACTS, idempotencyKey: readHttp(message).idempotencyKey }
      : factsOf(primary, message)
  const ap2 = layers.find(isLayer('ap2'))
  const credentials = new Set<Place>([...own.credentials, ...findAuthorizations(message)])
  if (ap2 === undefined || ap2 === primary) return { ...own, credentials: [...credentials] }
  const mandate = factsOf(ap2, message)
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

function factsOf(layer: Layer, message: Message): TransactionFacts {
  switch (layer.name) {
    case 'x402':
      return factsOfX402(readX402(layer, message), layer, message)
    case 'mpp':
      return factsOfMpp(readMpp(layer, message), message)
    case 'ucp':
      return factsOfUcp(readUcp(layer, message))
    case 'acp':
      return factsOfAcp(readAcp(layer, message), layer)
    case 'ap2':
      return factsOfAp2(readAp2(layer, message), message)
    case 'mcp':
      return factsOfMcp(readMcp(layer, message))
    default:
      return NO_FACTS
  }
}

const AUTHORIZATIONS = [
  'authorization',
  'payment-authorization',
  'proxy-authorization',
  'payment-signature',
  'x-payment',
]

function findAuthorizations(message: Message): Place[] {
  return message.headers.filter(({ name }) => AUTHORIZATIONS.includes(name)).map(({ at }) => at)
}

/** Identity tags of Web Bot Auth and of the card networks' profiles of it. */
const BOT_TAGS = ['web-bot-auth', 'agent-browser-auth', 'agent-payer-auth']

function spotEnvelopes(message: Message): Layer[] {
  const layers: Layer[] = []
  const a2a = readEnvelopes(message).find((envelope) => envelope.isA2a)
  const extensions = message.header('a2a-extensions') ?? message.header('x-a2a-extensions')
  const a2aVersion = message.header('a2a-version')
  if (a2a !== undefined || extensions !== undefined || a2aVersion !== undefined)
    layers.push(
      plainLayer({
        name: 'a2a',
        version: /^\d{1,2}\.\d{1,2}$/.exec(a2aVersion?.value ?? '')?.[0] ?? null,
        transport: a2a?.isJsonRpc === false || a2a === undefined ? 'rest' : 'jsonrpc',
        stage: a2a === undefined ? 'request' : a2a.result === null ? 'message' : 'result',
        confidence: a2a === undefined ? 'medium' : 'high',
        evidence: [
          ...(a2a === undefined ? [] : [{ mark: 'A2A message', at: a2a.root.at }]),
          ...[extensions, a2aVersion].flatMap((field) =>
            field === undefined ? [] : [{ mark: `header ${field.name}`, at: field.at }],
          ),
        ],
      }),
    )
  const l402 = findL402(message)
  if (l402 !== undefined) layers.push(l402)
  const { signatures } = readHttp(message)
  const bot = signatures.find(({ tag }) => tag !== null && BOT_TAGS.includes(tag.value))
  const agent = message.header('signature-agent')
  if (bot !== undefined || (agent !== undefined && signatures.length > 0))
    layers.push(
      plainLayer({
        name: 'web-bot-auth',
        version: null,
        transport: 'http',
        stage: 'identity',
        confidence: bot === undefined ? 'medium' : 'high',
        evidence: [
          ...(bot === undefined ? [] : [{ mark: `signature tag ${bot.tag!.value}`, at: bot.tag!.at }]),
          ...(agent === undefined ? [] : [{ mark: 'header Signature-Agent', at: agent.at }]),
        ],
      }),
    )
  return layers
}

/** The token of L402 is two of them with a colon between: no grammar of HTTP reads it. */
function findL402(message: Message): Layer | undefined {
  const credential = headersNamed(message, 'authorization').find(({ value }) =>
    /^(?:l402|lsat)[ \t]/i.test(value),
  )
  const challenge = headersNamed(message, 'www-authenticate').find((field) =>
    readAuth(field).some(({ scheme }) => scheme === 'l402' || scheme === 'lsat'),
  )
  const field = credential ?? challenge
  return (
    field &&
    plainLayer({
      name: 'l402',
      version: null,
      transport: 'http',
      stage: field === credential ? 'payment' : 'challenge',
      confidence: 'medium',
      evidence: [{ mark: `header ${field.name}: L402`, at: field.at }],
    })
  )
}

/** Two payments at once: nobody can say which one is meant. Two offers to choose from are fine. */
function findLayerConflicts(layers: readonly Layer[]): Conflict[] {
  const found: Conflict[] = []
  const paying = layers.filter(
    ({ name, stage }) => ['x402', 'mpp', 'l402'].includes(name) && stage === 'payment',
  )
  const checkouts = layers.filter(({ name }) => name === 'ucp' || name === 'acp')
  for (const [, ...others] of [paying, checkouts])
    for (const other of others)
      found.push(
        conflict(
          'DETECT-CONFLICT',
          other.evidence[0]?.at ?? '/headers',
          `The message is ${other.name} as well as ${paying.includes(other) ? paying[0]!.name : checkouts[0]!.name}: one of them has to go.`,
        ),
      )
  return found
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

/** Only the text tells: what was parsed has each member once, and the text a colon for each of both. */
function findRepeatedMembers({ body }: Message): Conflict[] {
  return body.kind === 'json' && body.raw !== undefined && countColons(body.raw) !== outlineOf(body).members
    ? [
        conflict(
          'DETECT-CONFLICT',
          '/body',
          'The body names a member twice: two readers could read two messages.',
        ),
      ]
    : []
}
