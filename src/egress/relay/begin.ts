// The beginning of an answer: all of it where it is short, so that it can be searched before any of it goes out.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { StreamedAnswer } from '../ports.ts'
import type { RelayRules } from './prepare.ts'
import { checkLength, type Part } from './ranges.ts'

/** Answers up to here are held until they are whole, where that is soon or their length is known. */
const SHORT_BYTES = 1024 * 1024
/** The head goes out without a body after this time; until then it may still become a refusal. */
const HEAD_WAIT_MS = 50

/** It is longer than its credential allows. */
export class TooLong extends Error {}

type Begun =
  | { readonly whole: Buffer; readonly pieces?: undefined }
  | { readonly whole: undefined; readonly pieces: AsyncIterable<Buffer> }

/**
 * @returns all of a short answer whose length is known, or which is here already; else its pieces from the first on
 * @throws {TooLong} for a short one that is longer than its credential allows
 */
export async function collectShort(
  pieces: AsyncGenerator<Buffer>,
  answer: StreamedAnswer,
  { rules: { maxResponseBytes }, part }: { readonly rules: RelayRules; readonly part: Part | undefined },
): Promise<Begun> {
  const declaredBytes = part?.comingBytes ?? answer.declaredBytes
  const isShort = declaredBytes !== undefined && declaredBytes <= SHORT_BYTES
  const pending = pieces.next()
  if (!isShort) {
    await Promise.race([pending, sleep(HEAD_WAIT_MS)])
    // The end of an answer comes with its only piece, or a turn of the loop later.
    if (!answer.isWhole()) await setImmediate()
    if (!answer.isWhole()) return { whole: undefined, pieces: resume([], pending, pieces) }
  }
  const first: Buffer[] = []
  let size = 0
  for (let next = await pending; next.done !== true; next = await pieces.next()) {
    first.push(next.value)
    size += next.value.length
    if (size > maxResponseBytes) throw new TooLong()
    if (size > SHORT_BYTES) return { whole: undefined, pieces: resume(first, pieces.next(), pieces) }
  }
  checkLength(size, part)
  return { whole: Buffer.concat(first, size) }
}

function resume(
  first: readonly Buffer[],
  pending: Promise<IteratorResult<Buffer>>,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  // It may be rejected before anybody asks for it, or without that anybody does.
  pending.catch(() => {})
  return resumed(first, pending, pieces)
}

async function* resumed(
  first: readonly Buffer[],
  pending: Promise<IteratorResult<Buffer>>,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await pending; next.done !== true; next = await pieces.next()) yield next.value
}
