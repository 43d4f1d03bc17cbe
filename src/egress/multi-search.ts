// Searches a body for many patterns in one pass, without regard to ASCII case. Skips ahead by the shortest pattern
// (Wu and Manber's method over pairs of bytes), so forty patterns cost what one does.

export interface Pattern {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface Searcher {
  /** Name of the first pattern that occurs. */
  find(haystack: Uint8Array): string | undefined
}

const BLOCK = 2
/** Longer windows skip further, but take longer to prepare; responses are mostly small. */
const MAX_WIDTH = 24

const fold = new Uint8Array(256)
for (let byte = 0; byte < 256; byte++) fold[byte] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte

/** Patterns shorter than two bytes are not searched for. */
export function createSearcher(patterns: readonly Pattern[]): Searcher {
  const usable = patterns.filter(({ bytes }) => bytes.length >= BLOCK)
  if (usable.length === 0) return { find: () => undefined }
  const width = Math.min(MAX_WIDTH, ...usable.map(({ bytes }) => bytes.length))
  // How far the window may move when it ends in this pair; 0 where a pattern's window does.
  const shifts = new Uint8Array(65_536).fill(width - BLOCK + 1)
  const ending = new Map<number, { name: string; bytes: Uint8Array }[]>()
  for (const { name, bytes: raw } of usable) {
    const bytes = raw.map((byte) => fold[byte]!)
    for (let end = BLOCK - 1; end < width; end++) {
      const pair = (bytes[end - 1]! << 8) | bytes[end]!
      shifts[pair] = Math.min(shifts[pair]!, width - 1 - end)
      if (end === width - 1) ending.set(pair, [...(ending.get(pair) ?? []), { name, bytes }])
    }
  }
  return {
    find(haystack) {
      const { length } = haystack
      for (let end = width - 1; end < length;) {
        const pair = (fold[haystack[end - 1]!]! << 8) | fold[haystack[end]!]!
        const shift = shifts[pair]!
        if (shift > 0) {
          end += shift
          continue
        }
        for (const { name, bytes } of ending.get(pair)!)
          if (occursAt(haystack, end - width + 1, bytes)) return name
        end++
      }
      return undefined
    },
  }
}

function occursAt(haystack: Uint8Array, at: number, bytes: Uint8Array): boolean {
  if (at + bytes.length > haystack.length) return false
  for (let i = 0; i < bytes.length; i++) if (fold[haystack[at + i]!] !== bytes[i]) return false
  return true
}
