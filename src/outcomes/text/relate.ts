// What several documents are to each other and to a query.

export interface RelateInput {
  readonly documents: readonly { readonly id: string; readonly text: string }[]
  readonly query: string | null
}

export interface Related {
  readonly passages: readonly {
    readonly document: string
    readonly text: string
    readonly start: number
    readonly end: number
    readonly heading: string | null
    readonly score: number
    readonly terms: readonly string[]
  }[]
  readonly duplicates: readonly {
    readonly kind: 'exact' | 'near' | 'contained'
    readonly documents: readonly string[]
    readonly similarity: number
  }[]
}

export function relate(_input: RelateInput): Related {
  return { passages: [], duplicates: [] }
}
