// web-extraction: up to three public pages in, normalised documents out, with what they share and what a query is about.
import type { WebExtractionResult } from '../../../schemas/web-extraction.ts'
import type { RedirectRule } from '../../../schemas/sources.ts'
import { GatewayError } from '../../core/errors.ts'
import { digestText } from '../digest.ts'
import type { PageReading } from '../reading.ts'
import { cleanText, collapseSpaces } from '../extract/text.ts'
import type {
  Analyser,
  Capability,
  Delivered,
  Gathered,
  PreparedJob,
  RunContext,
  SourceRequest,
} from '../ports.ts'
import { isPdf } from '../pdf/recognise.ts'
import { refusePdf } from '../pdf/refusals.ts'
import { SAMPLE_NOTICE } from '../sample.ts'
import { citeSources, readMaxAge, readRedirects, showSources, toReading } from './source-job.ts'
import { requestedSources } from '../sources/requested.ts'
import { sourcesUnusable } from '../sources/unusable.ts'
import type { Related } from '../text/relate.ts'

/**
 * The size of all documents together, as JSON: an answer is a message, and is stored. Three that are large get a third each.
 */
export const MAX_DOCUMENT_BYTES = 1_200_000

const SAMPLES: readonly SourceRequest[] = ['one', 'two'].map((name) => ({
  url: `https://samples.agent-gateway.test/tea/${name}`,
  fallbacks: [],
}))
const SAMPLE_QUERY = 'how hot should the water be'

export const webExtraction: Capability = {
  id: 'web-extraction',
  needs: ['url', 'urls', 'sources'],
  uses: ['url', 'urls', 'sources', 'max_age_seconds', 'redirects', 'start', 'query', 'format'],
  prepare(claims, { isDemo }): PreparedJob {
    const query = collapseSpaces(cleanText((claims.get('query') as string | undefined) ?? ''))
    const start = isDemo ? 0 : ((claims.get('start') as number | undefined) ?? 0)
    const job: Job = {
      start,
      sources: isDemo ? SAMPLES : requestedSources(claims),
      query: query === '' ? (isDemo ? SAMPLE_QUERY : null) : query,
      maxAgeSeconds: readMaxAge(claims, isDemo),
      redirects: readRedirects(claims),
      isDemo,
    }
    if (start > 0 && job.sources.length !== 1)
      throw new GatewayError(
        'input_invalid',
        '`start` goes on within one document: send it with the one source that it belongs to.',
        { extras: { fields: [{ pointer: '/start', message: 'Only with one source' }] } },
      )
    return {
      request: {
        ...(start > 0 && { start }),
        sources: showSources(job.sources),
        query: job.query,
        max_age_seconds: job.maxAgeSeconds,
        redirects: job.redirects,
      },
      run: (context) => extract(job, context),
    }
  },
}

interface Job {
  /** Offset in the text, in Unicode characters. */
  readonly start: number
  readonly sources: readonly SourceRequest[]
  readonly query: string | null
  readonly maxAgeSeconds: number
  readonly redirects: RedirectRule
  readonly isDemo: boolean
}

const UNREADABLE = {
  budget_exceeded: 'Reading the page took longer than a page may take. Send a smaller page.',
  unreadable: 'The page could not be read. Send another address of it.',
} as const

async function extract(job: Job, { gather, analyser, signal }: RunContext): Promise<Delivered> {
  const maxBytes = Math.floor(MAX_DOCUMENT_BYTES / job.sources.length)
  const { coverage, usable } = await gather<PageReading>(
    job.sources,
    { wanted: 'page', maxAgeSeconds: job.maxAgeSeconds, redirects: job.redirects, signal },
    async (input) => {
      const whole = { ...input, start: job.start, maxBytes }
      if (!isPdf(input)) return toReading(await analyser.run('page', whole), UNREADABLE)
      const analysed = await analyser.run('pdf', whole)
      return analysed.ok ? analysed.value : refusePdf('pdf_too_complex')
    },
  )
  if (usable.length === 0)
    throw sourcesUnusable(
      'No source gave a page that can be read, so nothing was charged. `coverage` says why for each; send addresses that ' +
        'answer with HTML, text, JSON or a PDF with a text layer.',
      coverage,
    )
  const documents = usable.map(toDocument)
  const related = await relateAll(documents, job.query, analyser)
  const result: WebExtractionResult = {
    sample: job.isDemo,
    sample_notice: job.isDemo ? SAMPLE_NOTICE : null,
    documents,
    passages: related.passages.map((passage) => ({ ...passage, terms: [...passage.terms] })),
    duplicates: related.duplicates.map((group) => ({ ...group, documents: [...group.documents] })),
    truncated: related.isComplete ? [] : ['passages', 'duplicates'],
    coverage,
  }
  return {
    result,
    sourceSha256: null,
    textSha256: null,
    sources: citeSources(usable),
    parts: documents.flatMap(({ document, text_sha256 }, at) => [
      { pointer: `/documents/${at}/document/text`, sha256: text_sha256 },
      { pointer: `/documents/${at}/document/markdown`, sha256: digestText(document.markdown) },
    ]),
    deterministic: related.isComplete,
  }
}

type Document = WebExtractionResult['documents'][number]

function toDocument({ source, fetched, retrieved, reading }: Gathered<PageReading>, at: number): Document {
  const { document, json, mode, pages, quality, truncated, warnings } = reading.value
  return {
    id: `d${at + 1}`,
    source,
    url: fetched.url,
    format: reading.format as Document['format'],
    ...(pages === undefined ? {} : { pages }),
    retrieved_at: retrieved.retrieved_at,
    trust: 'untrusted',
    document,
    ...(json === undefined ? {} : { json }),
    mode,
    quality: quality ?? {
      mode,
      words: document.word_count,
      page_words: document.word_count,
      boilerplate: [],
    },
    truncated: [...truncated],
    warnings: [...warnings],
    source_sha256: fetched.sha256,
    text_sha256: reading.textSha256 ?? digestText(document.text),
  }
}

/** Documents are worth their price without relations: where those take too long, the answer says so. */
async function relateAll(
  documents: readonly Document[],
  query: string | null,
  analyser: Analyser,
): Promise<Related & { isComplete: boolean }> {
  if (documents.length < 2 && query === null) return { passages: [], duplicates: [], isComplete: true }
  const related = await analyser.run('relate', {
    documents: documents.map(({ id, document: { text, headings } }) => ({
      id,
      text,
      headings: headings.map((heading) => heading.text),
    })),
    query,
  })
  return related.ok
    ? { ...related.value, isComplete: true }
    : { passages: [], duplicates: [], isComplete: false }
}
