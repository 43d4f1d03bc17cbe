// What the rules know by name, as it stands now: lists loaded once, the operator's document and refreshed list as they are
// on disk. Every verification asks, so an answer is kept for a moment.
import type { DocumentStore } from '../../store/ports.ts'
import { createKnowledge, type DomainLists, emailDomainsDocument, type Knowledge } from '../lists.ts'
import { loadLists } from './lists.ts'
import { readRefreshedList, stampOfRefreshedList } from './refreshed.ts'

const FRESH_MS = 250
const LIST_FRESH_MS = 30_000

/**
 * @param parts.report what is wrong with a document that was broken by hand, once
 * @returns the knowledge of now; the first call loads the lists
 */
export function createKnowledgeReader(parts: {
  readonly dataDir: string
  readonly documents: Pick<DocumentStore, 'read'>
  readonly report: (problem: string) => void
  readonly now: () => number
}): () => Promise<Knowledge> {
  let lists: DomainLists | undefined
  let stamp: string | undefined
  let stampedAt = 0
  let known: { document: unknown; lists: DomainLists; knowledge: Knowledge } | undefined
  let reported: string | undefined
  let reading: Promise<Knowledge> | undefined
  let readAt = 0

  async function currentLists(at: number): Promise<DomainLists> {
    if (lists !== undefined && at - stampedAt < LIST_FRESH_MS) return lists
    stampedAt = at
    const now = await stampOfRefreshedList(parts.dataDir)
    if (lists === undefined || now !== stamp) {
      lists = await loadLists(now === undefined ? undefined : await readRefreshedList(parts.dataDir))
      stamp = now
    }
    return lists
  }

  async function read(at: number): Promise<Knowledge> {
    const current = await currentLists(at)
    const { value, problem } = await parts.documents.read(emailDomainsDocument)
    if (problem !== undefined && problem !== reported) parts.report(problem)
    reported = problem
    if (known?.document !== value || known.lists !== current)
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
