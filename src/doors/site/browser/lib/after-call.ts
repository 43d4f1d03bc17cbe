// What a page does with a paid answer once it is there: reads it as a document, and verifies its receipt without the server.
import { isObject } from '../../../../lib/json.ts'
import { checkContents } from './contents.ts'
import { type CallOutcome, callPaid } from './paid-call.ts'
import { fetchKeys, type Proof, verifyProof } from './proof.ts'

/** A fetched page as people read it. */
export interface ReadDocument {
  readonly title: string | undefined
  readonly paragraphs: readonly string[]
}

const MAX_PARAGRAPHS = 40

/** A fetched page as its words: HTML goes through the free extraction, other text is taken as it is. */
export async function readDocument(api: string, body: unknown): Promise<ReadDocument | undefined> {
  const response = isObject(body) ? body['response'] : undefined
  if (!isObject(response)) return undefined
  const { content, content_type: type } = response
  if (typeof content !== 'string') return undefined
  if (typeof type === 'string' && type.includes('html')) return extract(api, content)
  return { title: undefined, paragraphs: paragraphsOf(content) }
}

async function extract(api: string, html: string): Promise<ReadDocument | undefined> {
  const outcome = await callPaid(
    {
      api,
      method: 'POST',
      path: '/v1/execute',
      body: { capability: 'extract-preview', html },
      wallet: undefined,
    },
    () => {},
  )
  const result = outcome.ok && isObject(outcome.body) ? outcome.body['result'] : undefined
  const document = isObject(result) ? result['document'] : undefined
  if (!isObject(document) || typeof document['text'] !== 'string') return undefined
  const title = typeof document['title'] === 'string' ? document['title'] : undefined
  // A page usually says its title again, as its first heading.
  const paragraphs = paragraphsOf(document['text']).filter((text, at) => at > 0 || text !== title)
  return { title, paragraphs }
}

const paragraphsOf = (text: string) =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .slice(0, MAX_PARAGRAPHS)

/** The receipt of an answer, judged by this browser with the published keys; undefined where it has none. */
export async function verifyAnswer(
  where: { readonly api: string; readonly baseUrl: string },
  outcome: CallOutcome,
): Promise<{ readonly verified: Proof; readonly ms: number } | undefined> {
  const jws = outcome.ok ? outcome.receipt?.jws : undefined
  if (jws === undefined) return undefined
  const started = performance.now()
  const keys = await fetchKeys(where)
  const proof = await verifyProof(jws, { keys, expected: 'receipt', now: Date.now() })
  const contents = await checkContents(proof, outcome.body, '')
  return {
    verified: { ...proof, checks: [...proof.checks, ...contents] },
    ms: performance.now() - started,
  }
}
