// Two things must not be in a stored task: tokens, wherever they stand, and inputs that are secret or personal by their name.
import { PERMIT_HEADER_END } from '../../lib/tokens.ts'
import type { WireMessage, WirePart } from './wire.ts'

const REDACTED = '[redacted]'
const SECRET_NAME =
  /(capability|permit|mandate|payment(\.payload)?|credential|secret|e?mails?|password|passphrase|token|authorization|cookie|(api|private|access|email|idempotency)[_-]?key|signature|sign-in-with-x)$/i
const GATEWAY_TOKEN = /agw_(?:sk|cap|ek)_[0-9A-Za-z]+/g

const PERMIT = new RegExp(`[\\w-]*${PERMIT_HEADER_END}\\.[\\w-]+\\.[\\w-]+`, 'g')

/** Tokens and permits inside any text, also inside serialised JSON. */
export function redactTokens(text: string): string {
  const rest = text.includes('agw_') ? text.replace(GATEWAY_TOKEN, REDACTED) : text
  return rest.includes(PERMIT_HEADER_END) ? rest.replace(PERMIT, REDACTED) : rest
}

/** A copy of the message that may be stored. */
export function redactMessage(message: WireMessage): WireMessage {
  return {
    ...message,
    parts: message.parts.map(redactPart),
    ...(message.metadata ? { metadata: redactValue(message.metadata) as Record<string, unknown> } : {}),
  }
}

function redactPart(part: WirePart): WirePart {
  const { metadata, ...rest } = part
  const kept = metadata === undefined ? {} : { metadata: redactValue(metadata) as Record<string, unknown> }
  if (part.text !== undefined) return { ...rest, ...kept, text: redactText(part.text) }
  if (part.data !== undefined) return { ...rest, ...kept, data: redactValue(part.data) }
  // A file may hold anything and is never needed again.
  if (part.raw !== undefined) return { text: `[a file of ${part.raw.length} base64 characters]`, ...kept }
  return { ...rest, ...kept, ...(part.url === undefined ? {} : { url: redactTokens(part.url) }) }
}

/** JSON inside text is redacted by name like any other input; the rest of the text only loses tokens. */
function redactText(text: string): string {
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start < 0 || end < start) return redactTokens(text)
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1))
    const around = [text.slice(0, start), text.slice(end + 1)].map(redactTokens)
    return `${around[0]}${JSON.stringify(redactValue(value))}${around[1]}`
  } catch {
    return redactTokens(text)
  }
}

/** A copy with every token of the gateway in it replaced by `[redacted]`, at any depth. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactTokens(value)
  if (Array.isArray(value)) return value.map(redactValue)
  if (typeof value !== 'object' || value === null) return value
  const copy: [string, unknown][] = []
  // The request that a permit is for says as much as the permit; elsewhere a request is nothing special.
  const isAction = ACTION_NAMES.some((name) => name in value)
  for (const [key, inner] of Object.entries(value)) {
    const isSecret = SECRET_NAME.test(key) || (isAction && key === 'request')
    copy.push([key, isSecret && inner !== null ? REDACTED : redactValue(inner)])
  }
  return Object.fromEntries(copy)
}

const ACTION_NAMES = ['permit', 'mandate', 'mandate_id']
