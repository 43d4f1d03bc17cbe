// Layers that are no protocol of commerce and come along with one: A2A around it, L402 beside it, Web Bot Auth for who sends it.
import { readJws } from '../decode/jws.ts'
import { member, pick, pickList, pickObject, pickText } from '../decode/value.ts'
import { headersNamed, jsonBody } from '../message.ts'
import type { Layer } from '../ports.ts'
import type { Reading } from '../reading.ts'

/** A layer of which no document can be expected. */
const plainLayer = (
  layer: Pick<Layer, 'name' | 'version' | 'transport' | 'stage' | 'confidence' | 'evidence'>,
): Layer => ({ ...layer, document: undefined, isUndecodable: false })

/** @returns those that the message has, in this order */
export const findOtherLayers = (reading: Reading): Layer[] =>
  [
    findA2a(reading),
    findL402(reading),
    findWebBotAuth(reading),
    findAcceptPayment(reading),
    findAp2Answer(reading),
  ].filter((layer) => layer !== undefined)

function findA2a({ message, envelopes }: Reading): Layer | undefined {
  const a2a = envelopes.find((envelope) => envelope.isA2a)
  const extensions = message.header('a2a-extensions') ?? message.header('x-a2a-extensions')
  const version = message.header('a2a-version')
  if (a2a === undefined && extensions === undefined && version === undefined) return undefined
  return plainLayer({
    name: 'a2a',
    version: /^\d{1,2}\.\d{1,2}$/.exec(version?.value ?? '')?.[0] ?? null,
    transport: a2a?.isJsonRpc === true ? 'jsonrpc' : 'rest',
    stage: a2a === undefined ? 'request' : a2a.result === null ? 'message' : 'result',
    confidence: a2a === undefined ? 'medium' : 'high',
    evidence: [
      ...(a2a === undefined ? [] : [{ mark: 'A2A message', at: a2a.root.at }]),
      ...[extensions, version].flatMap((field) =>
        field === undefined ? [] : [{ mark: `header ${field.name}`, at: field.at }],
      ),
    ],
  })
}

/** The token of L402 is two of them with a colon between, which no grammar of HTTP reads. */
function findL402({ message, http }: Reading): Layer | undefined {
  const credential = headersNamed(message, 'authorization').find(({ value }) =>
    /^(?:l402|lsat)[ \t]/i.test(value),
  )
  const challenge = http.challenges.find(({ challenges }) =>
    challenges.some(({ scheme }) => scheme === 'l402' || scheme === 'lsat'),
  )?.field
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

/** A client says by which methods of MPP it could pay (draft-httpauth-payment-00, `Accept-Payment`). Nothing is paid by that. */
function findAcceptPayment({ message }: Reading): Layer | undefined {
  const field = message.header('accept-payment')
  return (
    field &&
    plainLayer({
      name: 'mpp',
      version: null,
      transport: 'http',
      stage: 'negotiation',
      confidence: 'medium',
      evidence: [{ mark: 'header Accept-Payment', at: field.at }],
    })
  )
}

/**
 * What comes back for a mandate, and the card of an agent that takes them (AP2, payment_mandate.md, checkout_mandate.md and A2A extension).
 * A receipt is an object or a JWT of one.
 */
function findAp2Answer({ message }: Reading): Layer | undefined {
  const body = jsonBody(message)
  for (const name of ['payment_receipt', 'checkout_receipt']) {
    const found = pick(body, name)
    const text = pickText(found)
    const receipt =
      pickObject(found) ?? (text === null ? null : (readJws(text.value, text.at)?.payload ?? null))
    if (receipt !== null && pickText(receipt, 'reference') !== null && pickText(receipt, 'status') !== null)
      return ap2Layer('settlement', { mark: `member ${name}`, at: receipt.at })
  }
  const extension = pickList(body, 'capabilities', 'extensions').find(({ value }) =>
    /^https:\/\/github\.com\/google-agentic-commerce\/ap2\//i.test(String(member(value, 'uri'))),
  )
  return extension && ap2Layer('discovery', { mark: 'extension of an agent card', at: extension.at })
}

const ap2Layer = (stage: string, evidence: Layer['evidence'][number]): Layer =>
  plainLayer({
    name: 'ap2',
    version: null,
    transport: 'rest',
    stage,
    confidence: 'medium',
    evidence: [evidence],
  })

/** Identity tags of Web Bot Auth and of the card networks' profiles of it. */
const BOT_TAGS = ['web-bot-auth', 'agent-browser-auth', 'agent-payer-auth']

function findWebBotAuth({ message, http: { signatures } }: Reading): Layer | undefined {
  const tag = signatures
    .map((signature) => signature.tag)
    .find((one) => one !== null && BOT_TAGS.includes(one.value))
  const agent = signatures.length === 0 ? undefined : message.header('signature-agent')
  if (tag == null && agent === undefined) return undefined
  return plainLayer({
    name: 'web-bot-auth',
    version: null,
    transport: 'http',
    stage: 'identity',
    confidence: tag == null ? 'medium' : 'high',
    evidence: [
      ...(tag == null ? [] : [{ mark: `signature tag ${tag.value}`, at: tag.at }]),
      ...(agent === undefined ? [] : [{ mark: 'header Signature-Agent', at: agent.at }]),
    ],
  })
}
