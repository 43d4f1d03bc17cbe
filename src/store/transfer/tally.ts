// What a table holds, as two numbers that do not depend on the order of its rows: how many they are, and the sum of 60 bits of the MD5 of each row's
// line (row-text.ts). It finds what a copy lost or changed; it is no signature, and who may write the file may write the sum.
import { hash } from 'node:crypto'
import { linesOf } from './row-text.ts'

export interface Tally {
  readonly rows: number
  /** Sixteen hexadecimal digits: the sum modulo 2^64. */
  readonly checksum: string
}

const HEX_DIGITS_OF_60_BITS = 15

/** Counts and sums while pieces of whole lines pass. */
export function createTallier(): { add(piece: Buffer): void; end(): Tally } {
  let rows = 0
  let sum = 0n
  return {
    add(piece) {
      for (const line of linesOf(piece)) {
        rows++
        sum += BigInt(`0x${hash('md5', line, 'hex').slice(0, HEX_DIGITS_OF_60_BITS)}`)
      }
    },
    end: () => ({ rows, checksum: BigInt.asUintN(64, sum).toString(16).padStart(16, '0') }),
  }
}

/** Passes the pieces on and tallies them. */
export async function* tallied(
  pieces: AsyncIterable<Buffer>,
  tallier: { add(piece: Buffer): void },
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    tallier.add(piece)
    yield piece
  }
}

/** The tally of all of it. */
export async function tallyOf(pieces: AsyncIterable<Buffer>): Promise<Tally> {
  const tallier = createTallier()
  for await (const piece of pieces) tallier.add(piece)
  return tallier.end()
}
