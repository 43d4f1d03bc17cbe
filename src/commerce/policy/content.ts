// Secrets and card data where nobody expects them. The payment itself, and Authorization to the target, are expected: they are
// redacted and no reason.
import { readAcp } from '../protocols/acp.ts'
import { placeOf, type Text } from '../secrets/texts.ts'
import type { Rule, Subject } from './model.ts'
import { reason } from './reasons.ts'

const CODES = { url: 'SECRET_IN_URL', header: 'SECRET_IN_HEADER', body: 'SECRET_IN_BODY' } as const

export const judgeSecrets: Rule = (subject) =>
  subject.secrets.flatMap(({ kind, text, isMild }) => {
    const place = placeOf(text)
    // A token of the gateway belongs to nobody but the gateway.
    if (kind !== 'gateway_token' && isExpectedSecret(subject, kind, text, place)) return []
    return [
      reason(CODES[text.where], place, {
        ...(isMild && { severity: 'review' as const }),
        ...(kind === 'high_entropy_secret' && { isGuess: true as const }),
        message: `${SENTENCES[text.where]}: ${kind.replaceAll('_', ' ')}.`,
      }),
    ]
  })

const SENTENCES = {
  url: 'A credential stands in the URL, where logs and proxies keep it',
  header: 'A credential stands in a header that is not made for it',
  body: 'A credential stands in the body',
} as const

/** Members that hold a JWS by their protocol. */
const JWT_NAMES =
  /(?:^|_)(?:signature|proof|mandate|authorization|receipt|offer|attestation|checkout)(?:_chain|_jwt|_token)?$|^(?:checkout_jwt|opaque|requestState)$/i

export function isExpectedSecret(subject: Subject, kind: string, text: Text, place: string): boolean {
  if (subject.isExpected(place)) return true
  return kind === 'jwt' && JWT_NAMES.test(text.name)
}

export const judgeCards: Rule = (subject) => {
  const allowed = placeOfDelegatedCard(subject)
  return subject.cards.flatMap(({ kind, text }) => {
    const place = placeOf(text)
    if (allowed !== undefined && place.startsWith(allowed)) return []
    if (/\/credential\//.test(place) && subject.isExpected(place) && isTokenised(text, subject)) return []
    return [
      reason('CARD_DATA', place, {
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
const isTokenised = (text: Text, { texts }: Subject): boolean =>
  text.name === 'token' ||
  texts.some(
    ({ name, value, branch }) =>
      branch.up === text.branch.up &&
      (name === 'type' || name === 'card_number_type') &&
      (value === 'network_token' || value === 'dpan'),
  )

/** The one place where a card is what the message is for. */
function placeOfDelegatedCard({ detection, message }: Subject): string | undefined {
  const { primary } = detection
  if (primary?.name !== 'acp' || primary.document === undefined) return undefined
  return readAcp(primary, message).operation === 'delegate'
    ? `${primary.document.at}/payment_method/`
    : undefined
}
