// The agent card in its forms, written and signed once. 1.0 clients get the pure 1.0 card, 0.3 clients the
// 0.3 one. A client that names no version gets one that both can read, because both kinds of client leave the header out.
import { spellSchema } from '../../core/tool-words.ts'
import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk'
import type { Price } from '../../core/price.ts'
import { API_VERSION } from '../../core/config.ts'
import { isForPeople } from '../../core/roles.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { Addresses } from '../../core/config.ts'
import { type CardReader, isFor } from './card-reader.ts'
import { exampleInput } from './help-message.ts'
import { isPaid } from '../../core/price.ts'
import { GATEWAY_SCOPE } from '../../core/authenticate.ts'
import { SIGN_IN_SCOPES, signInAddresses } from '../../documents/sign-in-addresses.ts'
import { SKILLS_INDEX_PATH } from '../../documents/skills.ts'
import { priceSentence } from '../message-payment.ts'
import { X402_EXTENSIONS } from './x402-form.ts'
import { REST_PREFIX } from './http-json.ts'
import { pricedAs, SKILLS_EXTENSION_PATH, type Skill, type SkillTable } from './skills.ts'
import { must } from '../../lib/must.ts'
import { JSON_MEDIA, type Json } from './wire.ts'

const MODES = [JSON_MEDIA, 'text/plain']
/** Above this the schemas move behind a URL: every client loads the card, few need the schemas. */
const MAX_INLINE_BYTES = 50_000

export interface AgentCards {
  readonly v1: Json
  /** 1.0 plus what a 0.3 client looks for; carries a signature for each reading. */
  readonly superset: Json
  readonly v03: Json
  /** Holders of a service key get theirs: it has the skills, too, that their kind of key may call. */
  extended(reader: CardReader): Json
  /** Our extension publishes this: schemas, price and an example of every skill, as OpenAPI publishes every route. */
  readonly skillsDocument: Json
}

/** Writes and signs the card in its three forms, and an extended one when its first reader asks (A2A 1.0, section 8). */
export function createAgentCards(
  table: SkillTable,
  addresses: Addresses,
  signer: Signer,
  { pushNotifications }: { readonly pushNotifications: boolean },
): AgentCards {
  const { baseUrl } = addresses
  const extensionUri = baseUrl + SKILLS_EXTENSION_PATH
  const signIn = signInAddresses(baseUrl)
  const skillsFor = (reader: CardReader) => table.skills.filter(({ entry }) => isFor(reader, entry.tool))
  const skillsDocument = {
    uri: extensionUri,
    usage: USAGE,
    skills: spellSchema(describeSkills(table.skills), table.spell),
  }

  const cardOf = (reader: CardReader): Json => {
    const skills = skillsFor(reader)
    const described = spellSchema(describeSkills(skills), table.spell)
    const isSmall = JSON.stringify(described).length <= MAX_INLINE_BYTES
    const card = {
      name: 'Agent Gateway',
      description:
        'Gets things done on the internet for agents without ever giving them a secret: checks scope, charges credits, ' +
        'acts exactly once and hands back the result with a receipt that anyone can verify.',
      supportedInterfaces: [
        { url: `${baseUrl}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: baseUrl + REST_PREFIX, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${baseUrl}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      provider: { organization: 'Agent Gateway', url: addresses.siteUrl },
      version: API_VERSION,
      documentationUrl: addresses.siteUrl,
      capabilities: {
        streaming: true,
        pushNotifications,
        extendedAgentCard: true,
        extensions: [
          {
            uri: extensionUri,
            description: USAGE,
            required: false,
            params: isSmall ? { skills: described } : { skillsUrl: extensionUri },
          },
          ...(skills.some((skill) => isPaid(skill.entry.tool)) ? X402 : []),
          { uri: baseUrl + SKILLS_INDEX_PATH, description: GOALS, required: false },
        ],
      },
      securitySchemes: {
        bearer: {
          httpAuthSecurityScheme: {
            scheme: 'bearer',
            description:
              'A capability (agw_cap_…) for agents, an email key (agw_ek_…) for email verification, a service key (agw_sk_…) for operators',
          },
        },
        // The flows of one scheme exclude each other, so each flow is a scheme.
        oauth: {
          oauth2SecurityScheme: {
            description: `An access token (agw_at_…) that a person gives you in their browser. ${SIGN_IN}`,
            oauth2MetadataUrl: signIn.metadataUrl,
            flows: {
              authorizationCode: {
                authorizationUrl: signIn.authorizationUrl,
                tokenUrl: signIn.tokenUrl,
                refreshUrl: signIn.tokenUrl,
                scopes: SIGN_IN_SCOPES,
                pkceRequired: true,
              },
            },
          },
        },
        device: {
          oauth2SecurityScheme: {
            description: `The same, where you have no browser: they type a code that you show. ${SIGN_IN}`,
            oauth2MetadataUrl: signIn.metadataUrl,
            flows: {
              deviceCode: {
                deviceAuthorizationUrl: signIn.deviceAuthorizationUrl,
                tokenUrl: signIn.tokenUrl,
                refreshUrl: signIn.tokenUrl,
                scopes: SIGN_IN_SCOPES,
              },
            },
          },
        },
        capability: {
          apiKeySecurityScheme: {
            location: 'header',
            name: 'X-Gateway-Capability',
            description: 'A capability where Authorization is taken',
          },
        },
      },
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills: spellSchema(skills.map(skillOnCard), table.spell),
    }
    // The SDK's codec makes what is signed exactly what a client gets that parses and prints the card.
    return AgentCard.toJSON(AgentCard.fromJSON(card)) as Json
  }

  const sign: SignCard = (card) => signatureOf(card, signer, `${baseUrl}/.well-known/jwks.json`)
  const publicCard = cardOf('public')
  const signatures = signaturesOf(publicCard, sign)
  const legacyFields = {
    url: `${baseUrl}/a2a`,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    supportsAuthenticatedExtendedCard: true,
  }
  // A client of 0.3 gives the card up where it has a flow of devices, which it does not know.
  const { device: _device, ...schemes } = publicCard['securitySchemes'] as Json
  const superset = {
    ...publicCard,
    ...legacyFields,
    securitySchemes: schemes,
    skills: (publicCard['skills'] as Json[]).map(withoutDevice),
  }
  const v03 = legacyCard(publicCard, legacyFields)
  const signed = (card: Json): Json => ({ ...card, signatures: signaturesOf(card, sign) })
  const v1 = { ...publicCard, signatures }
  const extended = new Map<CardReader, Json>([['public', v1]])
  return {
    v1,
    superset: { ...superset, signatures: [sign(superset), ...signatures] },
    v03: { ...v03, signatures: [sign(v03)] },
    extended(reader) {
      const card = extended.get(reader) ?? signed(cardOf(reader))
      extended.set(reader, card)
      return card
    },
    skillsDocument,
  }
}

const USAGE =
  'Names the skill and its input: message.metadata["<this URI>"] = {"skillId": "…", "input": {…}}. ' +
  'A data part {"skill": "…", "input": {…}} does the same without the extension.'

const SIGN_IN =
  'What they did not allow is a task that waits for them (TASK_STATE_AUTH_REQUIRED), with a link.'

const GOALS =
  'Agent Skills: goals that are reached with several of these skills, each a SKILL.md that says who pays, in what order and what can fail. ' +
  'The URI is the address of their index; nothing is activated.'

const WHICH_OBJECTS =
  'The objects are those of x402 v2; whoever activates v0.1 alone gets those of x402 v1. Payments of either version are taken.'

const X402 = X402_EXTENSIONS.map((uri) => ({
  uri,
  description:
    'Paid skills answer with an input-required task whose status message holds the price; pay with a message to that task. No ' +
    `account is needed. ${WHICH_OBJECTS}`,
  required: false,
}))

/**
 * One over the card as it is on the wire; one over the form that the SDKs verify, which drops empty members everywhere; and one over
 * what the JavaScript SDK's client makes of the card before it verifies it (a2a-js#663). A client checks whichever it can.
 */
function signaturesOf(card: Json, sign: SignCard) {
  // It wants the wire form, whatever its type says.
  const withoutEmpty = JSON.parse(canonicalizeAgentCard(card as unknown as AgentCard)) as Json
  const decoded = JSON.parse(canonicalizeAgentCard(AgentCard.fromJSON(card))) as Json
  return [sign(card), sign(withoutEmpty), sign(decoded)]
}

type SignCard = (card: Json) => { protected: string; signature: string }

/**
 * 8.4: a JWS over the RFC 8785 form of the card without its signatures; its payload is left out.
 * @param jku where the key is published, for clients that know no more of us than this card
 */
function signatureOf(card: Json, signer: Signer, jku: string): ReturnType<SignCard> {
  const [header, , signature] = signer.sign('JOSE', card, { jku }).split('.')
  return { protected: must(header, 'the header of a signature'), signature: must(signature, 'a signature') }
}

function skillOnCard(skill: Skill): Json {
  const { tool } = skill.entry
  return {
    id: skill.id,
    name: skill.card.name ?? tool.title,
    description: (skill.card.description ?? tool.summary) + priceSentence(pricedAs(skill)),
    tags: skill.card.tags,
    examples: [...skill.card.examples, JSON.stringify({ skill: skill.id, input: exampleInput(skill) })],
    inputModes: MODES,
    outputModes: MODES,
    ...(tool.caller === 'anyone' ? {} : { securityRequirements: requirementsOf(skill) }),
  }
}

function requirementsOf(skill: Skill): Json[] {
  const bearer = { schemes: { bearer: { list: [] } } }
  const { tool } = skill.entry
  // A key of email verification is of nobody's account, so nobody signs in for one.
  if (tool.caller === 'email' || isForPeople(tool)) return [bearer]
  const isForAgents = tool.caller === 'capability' || tool.caller === 'account'
  const scopes = isForAgents ? [GATEWAY_SCOPE] : Object.keys(SIGN_IN_SCOPES)
  const signedIn = [{ schemes: { oauth: { list: scopes } } }, { schemes: { device: { list: scopes } } }]
  if (!isForAgents) return [bearer, ...signedIn]
  return [bearer, { schemes: { capability: { list: [] } } }, ...signedIn]
}

function describeSkills(skills: readonly Skill[]): Json {
  const described = skills.map((skill) => {
    const { tool, inputSchema, messageSchema } = skill.entry
    const { price } = pricedAs(skill)
    return [
      skill.id,
      {
        inputSchema,
        outputSchema: messageSchema,
        price: costOf(price),
        caller: tool.caller,
        reply: isPaid(tool) ? 'task' : tool.reply,
        example: exampleInput(skill),
      },
    ]
  })
  return Object.fromEntries(described) as Json
}

const costOf = (price: Price): Json => {
  switch (price.kind) {
    case 'free':
      return { kind: 'free' }
    case 'credits':
      return price.taken === 'allowance'
        ? { kind: 'free', creditsBeyondAllowance: price.credits }
        : { kind: 'credits', credits: price.credits }
    case 'x402': {
      const amount = price.amountAtomic.toString()
      if (price.setBy !== undefined) return { kind: 'x402', set_by: price.setBy }
      if (price.mayBeFree === undefined) return { kind: 'x402', amount_atomic: amount }
      const upTo = (price.upToAtomic ?? price.amountAtomic).toString()
      return { kind: 'free', sometimes: { from_atomic: amount, to_atomic: upTo } }
    }
  }
}

/** The 0.3 card says the same in its own words. */
function legacyCard(card: Json, legacyFields: Json): Json {
  const {
    supportedInterfaces: _interfaces,
    securitySchemes: _schemes,
    capabilities,
    skills,
    ...shared
  } = card
  const { extendedAgentCard: _extended, ...kept } = capabilities as Json
  return {
    ...shared,
    ...legacyFields,
    capabilities: kept,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      // It has no flow of devices.
      oauth: legacyOauth((card['securitySchemes'] as Json)['oauth'] as Json),
      capability: { type: 'apiKey', in: 'header', name: 'X-Gateway-Capability' },
    },
    skills: (skills as Json[]).map(withoutDevice).map(({ securityRequirements, ...skill }) => ({
      ...skill,
      ...(securityRequirements === undefined
        ? {}
        : {
            security: (securityRequirements as { schemes: Record<string, { list?: string[] }> }[]).map(
              ({ schemes }) =>
                Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list ?? []])),
            ),
          }),
    })),
  }
}

function withoutDevice({ securityRequirements, ...skill }: Json): Json {
  if (!Array.isArray(securityRequirements)) return skill
  const known = (securityRequirements as { schemes: Json }[]).filter(({ schemes }) => !('device' in schemes))
  return { ...skill, securityRequirements: known }
}

function legacyOauth(scheme: Json): Json {
  const { description, flows, oauth2MetadataUrl } = scheme['oauth2SecurityScheme'] as Json
  const { pkceRequired: _pkce, ...flow } = (flows as Json)['authorizationCode'] as Json
  return { type: 'oauth2', description, flows: { authorizationCode: flow }, oauth2MetadataUrl }
}
