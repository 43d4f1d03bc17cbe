// How much of a page goes into an answer. Output stays bounded whatever the input repeats.

export interface ExtractionLimits {
  readonly textCharacters: number
  /** Entries of lists. */
  readonly links: number
  /** Links that do not stand in the main text: navigation, teasers. */
  readonly linksElsewhere: number
  readonly headings: number
  readonly tables: number
  /** Cells of all tables together. */
  readonly cells: number
}

/** Limits of paid documents: more than any page that people read has. */
export const PAGE_LIMITS: ExtractionLimits = {
  textCharacters: 200_000,
  links: 500,
  linksElsewhere: 25,
  headings: 500,
  tables: 100,
  cells: 10_000,
}

/** The length of a heading, or of the words of a link. */
export const MAX_LABEL_CHARACTERS = 300
