// What an answer says of its length: of a whole one what is passed on has, of a HEAD what the upstream said.
import type { HeaderPairs } from '../headers.ts'
import type { StreamedAnswer } from '../ports.ts'
import { codingOf } from './decoding.ts'
import { pickAnswerHeaders } from './headers.ts'
import type { RelayRules } from './prepare.ts'

export const LENGTH_HEADER = 'content-length'

interface Sized {
  readonly method: string
  readonly status: number
  /** By the upstream, of what a GET passes on. */
  readonly said: string | undefined
}

/** A HEAD says how long the answer to a GET would be. */
export function lengthOf({ method, status, said }: Sized, length: number): HeaderPairs {
  if (status === 204 || status === 304) return []
  if (method !== 'HEAD') return [[LENGTH_HEADER, String(length)]]
  return said === undefined ? [] : [[LENGTH_HEADER, said]]
}

/** @returns undefined for a length of encoded bytes, too: a GET passes them on decoded, and how many those are nobody has said */
export const saidLength = (received: StreamedAnswer['headers']): string | undefined =>
  codingOf(received) === undefined ? received.find(({ name }) => name === LENGTH_HEADER)?.value : undefined

/** What a repeat gets of an answer's headers: as they were passed on, and of a HEAD the length, which no body tells. */
export function pickKeptHeaders(
  received: StreamedAnswer['headers'],
  { method, rules }: { readonly method: string; readonly rules: RelayRules },
): HeaderPairs {
  const said = method === 'HEAD' ? saidLength(received) : undefined
  return [
    ...pickAnswerHeaders(received, rules),
    ...(said === undefined ? [] : [[LENGTH_HEADER, said] as const]),
  ]
}
