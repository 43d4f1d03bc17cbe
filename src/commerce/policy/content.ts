// Secrets and card data where nobody expects them. The payment itself, and Authorization to the target, are expected: they are
// redacted and no reason.
import { holderOf, placeOf } from '../decode/outline.ts'
import type { CardFound } from '../secrets/cards.ts'
import type { Container, Place, Text, Where } from '../ports.ts'
import { listBeside } from '../secrets/texts.ts'
import type { Rule, Subject } from './model.ts'
import { reason } from './reasons.ts'

const CODES = { url: 'SECRET_IN_URL', header: 'SECRET_IN_HEADER', body: 'SECRET_IN_BODY' } as const

/** Secrets where no protocol puts one. */
export const judgeSecrets: Rule = (subject) =>
  subject.secrets.flatMap(({ kind, text, isMild }) => {
    const { where } = text.source
    const at = placeOf(text)
    // A token of the gateway belongs to nobody but the gateway.
    if (kind !== 'gateway_token' && isExpectedSecret(subject, kind, text.name, at)) return []
    return [
      reason(CODES[where], at, {
        ...(isMild && { severity: 'review' as const }),
        ...(GUESSED_KINDS.has(kind) && { isGuess: true as const }),
        message: `${SENTENCES[where]}: ${kind.replaceAll('_', ' ')}.`,
      }),
    ]
  })

/**
 * Told by a name and by chance alone, or made to be handed to somebody: a hook to call, an address to fetch, a key to sign with.
 */
const GUESSED_KINDS: ReadonlySet<string> = new Set([
  'basic_auth_url',
  'discord_webhook',
  'high_entropy_secret',
  'slack_webhook',
  'twilio_key',
  'webhook_secret',
])

const SENTENCES = {
  url: 'A credential stands in the URL, where logs and proxies keep it',
  header: 'A credential stands in a header that is not made for it',
  body: 'A credential stands in the body',
} as const

/** Members that hold a JWS by their protocol. */
const JWT_NAMES =
  /(?:^|_)(?:signature|proof|mandate|authorization|receipt|offer|attestation|checkout)(?:_chain|_jwt|_token)?$|^(?:checkout_jwt|opaque|requestState)$/i

const isExpectedSecret = ({ isExpected }: Subject, kind: string, name: string, at: Place): boolean =>
  isExpected(at) || (kind === 'jwt' && JWT_NAMES.test(name))

/** Card data where no protocol puts any. */
export const judgeCards: Rule = (subject) => {
  const { primary, cards, texts, isExpected } = subject
  const allowed = primary?.protocol.policy.findCard?.(primary)
  const companyOf = readCompanies(texts)
  return cards.flatMap((card) => {
    const { kind, text } = card
    const at = placeOf(text)
    if (allowed !== undefined && at.startsWith(allowed)) return []
    if (at.includes('/credential/') && isExpected(at) && isTokenised(text, companyOf)) return []
    return [
      reason('CARD_DATA', at, {
        ...(!isSurelyCard(card, cards, companyOf) && { isGuess: true as const }),
        message:
          kind === 'card_number'
            ? 'A card number stands where no protocol expects it.'
            : 'The verification code of a card stands where no protocol expects it.',
      }),
    ]
  })
}

/**
 * Inside the credential of an instrument: tokens are written like the card they stand for. The card's own number UCP forbids in a
 * checkout.
 */
const isTokenised = (text: Text, companyOf: CompanyOf): boolean =>
  text.name === 'token' || companyOf(text).saysToken

/** Many ids are as long and pass the same check, those of companies (SIRET) and phones (IMEI) all of them. */
function isSurelyCard(
  { kind, text, value }: CardFound,
  cards: readonly CardFound[],
  companyOf: CompanyOf,
): boolean {
  if (kind === 'card_verification_code')
    return /cvc|cvv|card/i.test(text.name) || cards.some((other) => other.kind === 'card_number')
  if (saysCard(text.value, value)) return true
  if (ID_NAME.test(text.name)) return false
  return (
    /card|^(?:pan|ccnum)$/i.test(text.name) ||
    standsUnder(text, /card|credential|instrument|payment_?method/i) ||
    (NUMBER_NAME.test(text.name) && companyOf(text).saysCard)
  )
}

/** Names of the id of a card, a payment or anything else, which is not its number. */
const ID_NAME = /(?:^|_)(?:ids?|ref|reference|trace|rrn|arn)$|[a-z](?:Ids?|Ref|Reference)$/
/** Names of a card's number where it does not say so itself. */
const NUMBER_NAME = /^$|num|no$|pan|account|value|code/i

/** The members of one object may say what a number among them is. */
interface Company {
  /** It only stands for a card. */
  readonly saysToken: boolean
  readonly saysCard: boolean
}

type CompanyOf = (text: Text) => Company

/** Read once for each object, which may have as many numbers as members. What stands alone is beside all of its part of the message. */
function readCompanies(texts: readonly Text[]): CompanyOf {
  const known = new Map<Container | Where, Company>()
  return (text) => {
    const beside = holderOf(text) ?? text.source.where
    const company = known.get(beside) ?? readCompany(text, texts)
    known.set(beside, company)
    return company
  }
}

function readCompany(text: Text, texts: readonly Text[]): Company {
  const beside = listBeside(text, texts)
  return {
    saysToken: beside.some(
      ({ name, value }) =>
        (name === 'type' || name === 'card_number_type') && (value === 'network_token' || value === 'dpan'),
    ),
    saysCard: beside.some(
      ({ source, name, value }) =>
        source.where === text.source.where &&
        (BESIDE_CARD.test(name) || (name === 'type' && /card|pan/i.test(value))),
    ),
  }
}

const BESIDE_CARD = /^(?:cv[cv]2?|csc|exp(?:iry|iration)?(?:_?(?:date|month|year))?|card.*|brand)$/i
const AROUND_CHARS = 40
const CARD_WORD =
  /(?:^|[^a-z])(?:cards?|cv[cv]2?|exp_?(?:iry|month|year)|visa|master ?card|amex|american express|pan|cc|credit|debit|(?:kredit)?karte|carte|tarjeta)(?![a-z])/i

/** Written in groups as cards are, or with a word beside it. */
function saysCard(text: string, number: string): boolean {
  const at = text.indexOf(number)
  const before = text.slice(Math.max(0, at - AROUND_CHARS), at)
  const behind = text.slice(at + number.length, at + number.length + AROUND_CHARS)
  // Longer rows of groups are numbers of parcels.
  const isWhole = !/\d[^\da-z]$/i.test(before) && !/^[^\da-z]\d{4}/i.test(behind)
  return (isWhole && /\D/.test(number)) || CARD_WORD.test(before) || CARD_WORD.test(behind)
}

function standsUnder(text: Text, name: RegExp): boolean {
  for (let at = holderOf(text); at !== undefined; at = at.up)
    if (typeof at.key === 'string' && name.test(at.key.slice(-64))) return true
  return false
}
