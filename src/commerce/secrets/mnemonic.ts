// Seed phrases (BIP-39, English): twelve to twenty-four words of the list in a row, with the right checksum.
import { hash } from 'node:crypto'
import { WORD_STARTS } from '../../data/mnemonic-words.ts'

const WORD_CHARS = 4
const LENGTHS = [24, 21, 18, 15, 12]
/** A run of list words longer than any phrase is searched at its beginning only. */
const MAX_RUN = 48

let known: Map<string, number> | undefined

/** The first four letters tell every word of the list from every other. */
function indexOf(word: string): number | undefined {
  if (known === undefined) {
    known = new Map()
    for (let at = 0; at < WORD_STARTS.length; at += WORD_CHARS)
      known.set(WORD_STARTS.slice(at, at + WORD_CHARS).trimEnd(), at / WORD_CHARS)
  }
  return word.length < 3 || word.length > 8 ? undefined : known.get(word.slice(0, WORD_CHARS))
}

const GAP = /[\s,]/
const HOLDS_GAPS = /^(?:[^\s,]*[\s,]){11}/

/** @returns the phrase, where the text holds one */
export function findMnemonic(text: string): string | undefined {
  // Twelve words of three letters with their spaces. Most long texts are base64, which has none.
  if (text.length < 47 || !GAP.test(text) || !HOLDS_GAPS.test(text)) return undefined
  let words: string[] = []
  let indices: number[] = []
  const finish = () => {
    const found = indices.length >= 12 ? findPhrase(words, indices) : undefined
    words = []
    indices = []
    return found
  }
  for (const [word] of text.matchAll(/[A-Za-z]{1,32}|[^A-Za-z\s,]{1,32}/g)) {
    // Wallets number the words.
    if (/^\d{1,2}[.):]?$/.test(word)) continue
    const index = indexOf(word.toLowerCase())
    if (index === undefined) {
      const found = finish()
      if (found !== undefined) return found
    } else if (indices.length < MAX_RUN) {
      words.push(word)
      indices.push(index)
    }
  }
  return finish()
}

function findPhrase(words: readonly string[], indices: readonly number[]): string | undefined {
  for (const length of LENGTHS)
    for (let start = 0; start + length <= indices.length; start++)
      if (hasChecksum(indices.slice(start, start + length)))
        return words.slice(start, start + length).join(' ')
  return undefined
}

function hasChecksum(indices: readonly number[]): boolean {
  const bits = indices.map((index) => index.toString(2).padStart(11, '0')).join('')
  const checksumBits = bits.length / 33
  const entropy = bits.slice(0, -checksumBits)
  const bytes = Buffer.from((entropy.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const first = hash('sha256', bytes, 'buffer')[0]!
  return first.toString(2).padStart(8, '0').slice(0, checksumBits) === bits.slice(-checksumBits)
}
