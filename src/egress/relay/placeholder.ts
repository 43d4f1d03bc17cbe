// The placeholder of a program out of its body, where the credential says that the secret goes there. What stands there is the program's key,
// whatever it is: the service would read it as one.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import { MAX_PLACED_BYTES, MAX_PLACED_ITEMS } from '../placement/body-bounds.ts'
import { holdsMoreFields } from '../placement/form-body.ts'
import { removeTexts } from '../placement/json-body.ts'

/** What `run` gives programs for a key has this in it, however short it is cut. */
const OF_RUN = /AgentGat/

/** What a program of the gateway holds instead of a key: one of `run`, or a token of the gateway, also as an address takes it. */
export const isPlaceholder = (text: string): boolean => OF_RUN.test(text) || findEncodedToken(text)

/** @returns the body as the gateway may add the secret to it; as it was where there is nothing to replace */
export function withoutPlaceholders(
  body: Buffer | undefined,
  placements: readonly Placement[],
): Buffer | undefined {
  if (body === undefined || body.length === 0 || body.length > MAX_PLACED_BYTES) return body
  const names = placements.flatMap((placement) => (placement.in === 'form' ? [placement.name] : []))
  const pointers = placements.flatMap((placement) => (placement.in === 'json' ? [placement.pointer] : []))
  if (names.length > 0) return withoutFields(body, names)
  return pointers.length > 0 ? withoutTexts(body, pointers) : body
}

/** What is no form, or too long for one, is refused where the secret would go in. */
function withoutFields(body: Buffer, names: readonly string[]): Buffer {
  const text = holdsMoreFields(body, MAX_PLACED_ITEMS) ? undefined : decodeUtf8(body)
  if (text === undefined) return body
  const isReplaced = (field: string) => names.some((name) => field === name || field.startsWith(`${name}=`))
  return Buffer.from(
    text
      .split('&')
      .filter((field) => !isReplaced(field))
      .join('&'),
  )
}

/** What is no JSON, and a member that is no text, is refused where the secret would go in. */
function withoutTexts(body: Buffer, pointers: readonly string[]): Buffer {
  const text = decodeUtf8(body)
  const left = text === undefined ? undefined : removeTexts(text, pointers)
  return left === undefined ? body : Buffer.from(left)
}
