// Reads one of the operator's documents for rules that need it at every call. A document is a file or a row, so what was
// read serves for a moment; a hand edit that broke it is reported once, and the last good copy holds.
import type { DocumentKind, DocumentStore } from '../store/ports.ts'
import { isFresh } from '../lib/fresh.ts'

/** Milliseconds that a document serves before it is read again: an operator waits no longer for an edit to count. */
const FRESH_MS = 250

/**
 * @param parts.toValue what the rules ask of the document; called once for every reading
 * @param parts.report is told what is wrong with a document, once for each problem
 * @returns the value of now, or of a quarter of a second ago; rejects where the document could not be read
 */
export function createDocumentReader<Document, Value>(parts: {
  readonly documents: Pick<DocumentStore, 'read'>
  readonly kind: DocumentKind<Document>
  readonly toValue: (document: Document) => Value | Promise<Value>
  readonly report: (problem: string) => void
  readonly now: () => number
}): () => Promise<Value> {
  const { documents, kind, toValue, report, now } = parts
  let reported: string | undefined
  let reading: Promise<Value> | undefined
  let readAt = 0

  async function read(): Promise<Value> {
    const { value, problem } = await documents.read(kind)
    if (problem !== undefined && problem !== reported) report(problem)
    reported = problem
    return toValue(value)
  }

  return () => {
    const at = now()
    if (reading !== undefined && isFresh(readAt, at, FRESH_MS)) return reading
    readAt = at
    const started = read()
    reading = started
    // A failure refuses this call and is not kept: the next call reads again.
    started.catch(() => {
      if (reading === started) reading = undefined
    })
    return started
  }
}
