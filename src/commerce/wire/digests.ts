// Digests of a body, against those that were sent with it.
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import type { Body } from '../ports.ts'

/** Each is made when it is first asked for, and once, however many there are to compare with. */
export interface BodyDigests {
  /** Whether the bytes are known as they were sent. */
  readonly isRaw: boolean
  /** @returns one for each way to write the body. @param algorithm as node:crypto calls it */
  of(algorithm: string): readonly Buffer[]
}

/** Hashes nothing yet. */
export function digestBody(body: Body): BodyDigests {
  const made = new Map<string, readonly Buffer[]>()
  return {
    isRaw: isRaw(body),
    of(algorithm) {
      const digests = made.get(algorithm) ?? writeBody(body).map((text) => hash(algorithm, text, 'buffer'))
      made.set(algorithm, digests)
      return digests
    },
  }
}

/** Half a surrogate pair has no UTF-8, so text with one was sent as other bytes. */
const isRaw = (body: Body): boolean =>
  (body.kind === 'json' || body.kind === 'text') &&
  (body.bytes !== undefined || body.raw?.isWellFormed() === true)

function writeBody(body: Body): readonly (string | Uint8Array)[] {
  if (body.kind === 'absent') return ['']
  if (body.kind === 'unreadable') return []
  // RFC 9530, 2: over the content as it was sent, its coding included.
  if (body.bytes !== undefined) return [body.bytes]
  if (body.kind === 'text' || body.raw !== undefined) return isRaw(body) ? [body.raw ?? ''] : []
  const texts = [JSON.stringify(body.value)]
  try {
    texts.push(toCanonicalJson(body.value))
  } catch {
    // Half surrogates have no canonical form.
  }
  return texts
}
