// Documents that say the same: exactly, nearly, or one inside the other. Found by runs of four words, as measured: unrelated
// pages share under a tenth of them, two readings of one page well over a third.
import { wordsOf } from './words.ts'

export interface DuplicateGroup {
  readonly kind: 'exact' | 'near' | 'contained'
  readonly documents: readonly string[]
  readonly similarity: number
}

const SHINGLE_WORDS = 4
const MIN_JACCARD = 0.4
const MIN_CONTAINMENT = 0.8
/** A short text is in a longer one by chance. */
const MIN_CONTAINED_SHINGLES = 30

/** Kinds from the strongest. */
const KINDS = ['exact', 'near', 'contained'] as const

interface Link {
  readonly a: number
  readonly b: number
  readonly kind: DuplicateGroup['kind']
  readonly similarity: number
}

/**
 * Groups, for each kind, the documents that are linked by it or by a stronger one, directly or through others; a group that says
 * no more than a stronger one did is left out. `similarity` is that of its weakest link of that kind.
 */
export function findDuplicates(
  documents: readonly { readonly id: string; readonly text: string }[],
): DuplicateGroup[] {
  if (documents.length < 2) return []
  const links = compareAll(documents.map(({ text }) => text))
  const groups: DuplicateGroup[] = []
  const seen = new Set<string>()
  const leader = documents.map((_, i) => i)
  for (const kind of KINDS) {
    const ofKind = links.filter((link) => link.kind === kind)
    for (const { a, b } of ofKind) join(leader, a, b)
    for (const root of new Set(ofKind.map(({ a }) => leader[a]))) {
      const members = leader.flatMap((each, i) => (each === root ? [i] : []))
      if (seen.has(members.join())) continue
      seen.add(members.join())
      const inside = ofKind.filter(({ a }) => leader[a] === root)
      groups.push({
        kind,
        documents: members.flatMap((i) => documents[i]?.id ?? []),
        similarity: Math.min(...inside.map(({ similarity }) => similarity)),
      })
    }
  }
  return groups
}

function join(leader: number[], a: number, b: number): void {
  const leaders = [leader[a] ?? a, leader[b] ?? b]
  const [from, to] = [Math.max(...leaders), Math.min(...leaders)]
  for (const [i, each] of leader.entries()) if (each === from) leader[i] = to
}

function compareAll(texts: readonly string[]): Link[] {
  const documents = texts.map((text) => ({ text, shingles: shinglesOf(text) }))
  const links: Link[] = []
  for (const [a, one] of documents.entries())
    for (const [b, other] of documents.entries()) {
      if (b <= a) continue
      if (one.text === other.text) {
        if (one.text !== '') links.push({ a, b, kind: 'exact', similarity: 1 })
        continue
      }
      const verdict = compare(one.shingles, other.shingles)
      if (verdict) links.push({ a, b, ...verdict })
    }
  return links
}

function compare(a: Uint32Array, b: Uint32Array): Pick<Link, 'kind' | 'similarity'> | undefined {
  const common = countCommon(a, b)
  if (common === 0) return undefined
  const jaccard = common / (a.length + b.length - common)
  if (jaccard >= MIN_JACCARD) return { kind: 'near', similarity: round(jaccard) }
  const shorter = Math.min(a.length, b.length)
  const containment = common / shorter
  if (shorter < MIN_CONTAINED_SHINGLES || containment < MIN_CONTAINMENT) return undefined
  return { kind: 'contained', similarity: round(containment) }
}

const round = (share: number) => Math.round(share * 10_000) / 10_000

/** Counts the members that two sorted sets have in common. */
function countCommon(a: Uint32Array, b: Uint32Array): number {
  let common = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left = 0, right = 0] = [a[i], b[j]]
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return common
}

/** Hashes of every four words in a row, each once, sorted: a few megabytes at most, whatever the text. */
function shinglesOf(text: string): Uint32Array {
  const words = wordsOf(text).map(hashWord)
  const hashes = new Uint32Array(Math.max(words.length - SHINGLE_WORDS + 1, 0))
  for (let i = 0; i < hashes.length; i++) {
    let value = 0
    for (let k = 0; k < SHINGLE_WORDS; k++) value = mix(value, words[i + k] ?? 0)
    hashes[i] = value
  }
  hashes.sort()
  return hashes.filter((hash, i) => i === 0 || hash !== hashes[i - 1])
}

/** FNV-1a over UTF-16 units. */
function hashWord(word: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 0x01000193)
  return value
}

/** A step of MurmurHash3: order matters. */
function mix(value: number, next: number): number {
  const k = Math.imul(next, 0xcc9e2d51)
  const mixed = value ^ Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}
