// Seed phrases (BIP-39, English): twelve to twenty-four words of the list in a row, with the right checksum.
import { hash } from 'node:crypto'
import { WORD_STARTS } from '../../data/mnemonic-words.ts'

const WORD_CHARS = 4
const WORD_MIN_CHARS = 3
const WORD_MAX_CHARS = 8
const LENGTHS = [24, 21, 18, 15, 12]
const SHORTEST = 12
/** A run of list words longer than any phrase is searched at its beginning only. */
const MAX_RUN = 48

/** The first four letters tell every word of the list from every other. */
const INDEX_OF: ReadonlyMap<string, number> = new Map(
  Array.from({ length: WORD_STARTS.length / WORD_CHARS }, (_, index) => [
    WORD_STARTS.slice(index * WORD_CHARS, (index + 1) * WORD_CHARS).trim(),
    index,
  ]),
)

/** Parts between white space and commas: letters (longer rows in pieces) apart from everything else. */
const PARTS = /[A-Za-z]{1,32}|[^A-Za-z\s,]+/g
/** Wallets number the words. */
const NUMBER = /^\d{1,2}[.):]?$/
const GAP = /[\s,]/g

interface Word {
  readonly index: number
  readonly written: string
}

/** @returns the phrase, where the text holds one */
export function findMnemonic(text: string): string | undefined {
  if (!holdsGaps(text)) return undefined
  let run: Word[] = []
  for (const [part] of text.matchAll(PARTS)) {
    const index = indexOf(part)
    if (index !== undefined) {
      if (run.length < MAX_RUN) run.push({ index, written: part })
    } else if (run.length > 0 && !NUMBER.test(part)) {
      const phrase = findPhrase(run)
      if (phrase !== undefined) return phrase
      run = []
    }
  }
  return findPhrase(run)
}

/** Whether a text has as many gaps as words need; most long ones are base64 or hexadecimal and have none, which one search tells. */
function holdsGaps(text: string): boolean {
  GAP.lastIndex = 0
  for (let gaps = 1; gaps < SHORTEST; gaps++) if (GAP.exec(text) === null) return false
  return true
}

const indexOf = (part: string): number | undefined =>
  part.length < WORD_MIN_CHARS || part.length > WORD_MAX_CHARS
    ? undefined
    : INDEX_OF.get(part.slice(0, WORD_CHARS).toLowerCase())

function findPhrase(run: readonly Word[]): string | undefined {
  if (run.length < SHORTEST) return undefined
  for (const length of LENGTHS)
    for (let start = 0; start + length <= run.length; start++) {
      const words = run.slice(start, start + length)
      if (hasChecksum(words)) return words.map(({ written }) => written).join(' ')
    }
  return undefined
}

function hasChecksum(words: readonly Word[]): boolean {
  const bits = words.map(({ index }) => index.toString(2).padStart(11, '0')).join('')
  const checksumBits = bits.length / 33
  const entropy = bits.slice(0, -checksumBits)
  const bytes = Buffer.from((entropy.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const [first = 0] = hash('sha256', bytes, 'buffer')
  return first.toString(2).padStart(8, '0').slice(0, checksumBits) === bits.slice(-checksumBits)
}
