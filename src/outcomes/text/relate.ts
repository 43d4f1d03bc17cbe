// Relates several documents to each other and to a query.
import { findDuplicates } from './duplicates.ts'
import { findPassages, type PassageDocument } from './passages.ts'

export interface RelateInput {
  readonly documents: readonly PassageDocument[]
  readonly query: string | null
}

export interface Related {
  readonly passages: ReturnType<typeof findPassages>
  readonly duplicates: ReturnType<typeof findDuplicates>
}

/** Passages for the query and groups of duplicates, where there are any. */
export const relate = ({ documents, query }: RelateInput): Related => ({
  passages: query === null ? [] : findPassages(documents, query),
  duplicates: findDuplicates(documents),
})
