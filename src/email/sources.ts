// The lists that a compact set of domains was made of, and what its values say about a name.
import type { NameTable } from './compact-set.ts'

/**
 * Bits of the value that a compact set keeps for a name; the rest say which of the other lists have it. A name may be
 * free and disposable at once: lists disagree.
 */
export const CURATED = 1
export const FREE = 2
export const REFRESHED = 4
export const OTHERS = [8, 16, 32] as const

export interface ListSource {
  /** Bit of its entries. */
  readonly bit: number
  /** Name and version. */
  readonly name: string
  /** Day it was published, where that is known. */
  readonly date: string | null
}

/** The lists as they go from the process that builds them to the one that asks them. */
export interface CompactLists {
  readonly table: NameTable
  readonly sources: readonly ListSource[]
}
