// Gives the rules what is known by name: lists loaded once, and the operator's document and refreshed list as they are on
// disk.
import { isDeepStrictEqual } from 'node:util'
import { createDocumentReader } from '../../core/document-reader.ts'
import type { DocumentStore } from '../../store/ports.ts'
import { createKnowledge, type DomainLists, emailDomainsDocument, type Knowledge } from '../lists.ts'
import { stampOfRefreshedList } from './refreshed.ts'
import { isFresh } from '../../lib/fresh.ts'

const LIST_FRESH_MS = 30_000

/**
 * @param parts.loadLists what is installed and refreshed, as it stands now
 * @param parts.report what is wrong with a document that was broken by hand, once
 * @returns the knowledge of now; the first call loads the lists
 */
export function createKnowledgeReader(parts: {
  readonly dataDir: string
  readonly loadLists: () => Promise<DomainLists>
  readonly documents: Pick<DocumentStore, 'read'>
  readonly report: (problem: string) => void
  readonly now: () => number
}): () => Promise<Knowledge> {
  let lists: DomainLists | undefined
  let stamp: string | undefined
  let loading: Promise<DomainLists> | undefined
  let loadedAt = 0
  let known: { document: unknown; lists: DomainLists; knowledge: Knowledge } | undefined

  async function load(): Promise<DomainLists> {
    const found = await stampOfRefreshedList(parts.dataDir)
    if (lists !== undefined && found === stamp) return lists
    lists = await parts.loadLists()
    stamp = found
    return lists
  }

  /** The first caller waits for the lists; later ones are served the old ones while new ones are read. */
  async function currentLists(at: number): Promise<DomainLists> {
    if (loading === undefined || (lists !== undefined && !isFresh(loadedAt, at, LIST_FRESH_MS))) {
      loadedAt = at
      loading = load()
      loading.catch(() => {
        if (lists === undefined) loading = undefined
      })
    }
    return lists ?? loading
  }

  return createDocumentReader({
    documents: parts.documents,
    kind: emailDomainsDocument,
    report: parts.report,
    now: parts.now,
    async toValue(document) {
      const current = await currentLists(parts.now())
      // A document out of a table is another object each time, so it is compared by what it says.
      if (known?.lists !== current || !isDeepStrictEqual(known.document, document))
        known = { document, lists: current, knowledge: createKnowledge(current, document) }
      return known.knowledge
    },
  })
}
