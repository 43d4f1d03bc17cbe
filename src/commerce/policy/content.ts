// Secrets where nobody expects them. The payment itself, and Authorization to the target, are expected: they are redacted and no reason.
import { placeOf } from '../decode/outline.ts'
import type { Place } from '../ports.ts'
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
