// Where a document may be cut so that its text and its Markdown end together.

/** A cut at the end of a block has this share of what there is room for: a heading is not sold without the long block behind it. */
export const MIN_SHARE = 0.5

/** An end of a block, at which text and Markdown may be cut together. */
export interface Cut {
  /** Lengths up to there, in UTF-16 units. */
  readonly text: number
  readonly markdown: number
  /** Offset in the whole text at which it goes on, in Unicode characters. */
  readonly next: number
}

/** The last one that is so, where all before it are so as well. */
export function lastCutWithin(cuts: readonly Cut[], fits: (cut: Cut) => boolean): Cut | undefined {
  let last: Cut | undefined
  for (const cut of cuts) {
    if (!fits(cut)) break
    last = cut
  }
  return last
}
