// The placeholder of a program out of its body, where the credential says that the secret goes there.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import { MAX_PLACED_BYTES, MAX_PLACED_ITEMS } from '../placement/body-bounds.ts'
import { holdsMoreFields } from '../placement/form-body.ts'
import { removeMember } from '../placement/json-body.ts'

/** @returns the body as the gateway may add the secret to it; as it was where there is nothing to replace */
export function withoutPlaceholders(
  body: Buffer | undefined,
  placements: readonly Placement[],
): Buffer | undefined {
  return placements.reduce((left, placement) => {
    if (left === undefined || left.length === 0 || left.length > MAX_PLACED_BYTES) return left
    if (placement.in === 'form') return withoutField(left, placement.name)
    return placement.in === 'json' ? withoutMember(left, placement.pointer) : left
  }, body)
}

/** What is no form, or too long for one, is refused where the secret would go in. */
function withoutField(body: Buffer, name: string): Buffer {
  const text = holdsMoreFields(body, MAX_PLACED_ITEMS) ? undefined : decodeUtf8(body)
  if (text === undefined) return body
  const kept = text.split('&').filter((field) => field !== name && !field.startsWith(`${name}=`))
  return Buffer.from(kept.join('&'))
}

/** What is no JSON is refused where the secret would go in. */
function withoutMember(body: Buffer, pointer: string): Buffer {
  const text = decodeUtf8(body)
  try {
    JSON.parse(text ?? '')
  } catch {
    return body
  }
  return Buffer.from(removeMember(text ?? '', pointer))
}
