// What the rules know by name, as it stands now: lists loaded once, the operator's document and refreshed list as they are
// on disk. Every verification asks, so an answer is kept for a moment.
import { isDeepStrictEqual } from 'node:util'
import type { DocumentStore } from '../../store/ports.ts'
import { createKnowledge, type DomainLists, emailDomainsDocument, type Knowledge } from '../lists.ts'
import { stampOfRefreshedList } from './refreshed.ts'

const FRESH_MS = 250
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
  let reported: string | undefined
  let reading: Promise<Knowledge> | undefined
  let readAt = 0

  async function load(): Promise<DomainLists> {
    const found = await stampOfRefreshedList(parts.dataDir)
    if (lists !== undefined && found === stamp) return lists
    lists = await parts.loadLists()
    stamp = found
    return lists
  }

  /** The first one waits; later, what is known serves until what is new was read. */
  async function currentLists(at: number): Promise<DomainLists> {
    if (loading === undefined || (lists !== undefined && at - loadedAt >= LIST_FRESH_MS)) {
      loadedAt = at
      loading = load()
      loading.catch(() => {
        if (lists === undefined) loading = undefined
      })
    }
    return lists ?? loading
  }

  async function read(at: number): Promise<Knowledge> {
    const current = await currentLists(at)
    const { value, problem } = await parts.documents.read(emailDomainsDocument)
    if (problem !== undefined && problem !== reported) parts.report(problem)
    reported = problem
    // A document out of a table is another object each time.
    if (known?.lists !== current || !isDeepStrictEqual(known.document, value))
      known = { document: value, lists: current, knowledge: createKnowledge(current, value) }
    return known.knowledge
  }

  return () => {
    const at = parts.now()
    if (reading !== undefined && at - readAt < FRESH_MS) return reading
    readAt = at
    const started = read(at)
    reading = started
    // What could not be read is asked again by the next verification.
    started.catch(() => {
      if (reading === started) reading = undefined
    })
    return started
  }
}
