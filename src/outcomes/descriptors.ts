// What the catalogue says about each live outcome. Data only: a capability is listed here when it works, not before.
import { z } from 'zod'
import { PreviewResult } from '../../schemas/extract-preview.ts'
import type { OutcomeId } from '../../schemas/outcome.ts'

export interface CapabilityFacts {
  readonly id: OutcomeId
  readonly name: string
  readonly description: string
  readonly when_to_use: string
  /** What the outcome contains; `pricing.delivered` of the catalogue. */
  readonly delivered: string
  readonly limitations: readonly string[]
  readonly latency_note: string
  /** Price of one execution in atomic USDC; 0 is free. */
  readonly amountAtomic: bigint
  /** Execute input that works when sent unchanged. */
  readonly example: Readonly<Record<string, unknown>>
  readonly tags: readonly string[]
  /** Sentences a person would say. */
  readonly phrases: readonly string[]
  /** JSON Schema of `result`. */
  readonly output_schema: Readonly<Record<string, unknown>>
}

const resultSchema = (schema: z.ZodType): Readonly<Record<string, unknown>> => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'output' }) as Record<string, unknown>
  return rest
}

const extractPreview: CapabilityFacts = {
  id: 'extract-preview',
  name: 'Extraction preview',
  description:
    'Turns HTML that you send into a normalised document: title, byline, dates, language, main text, Markdown, headings, ' +
    'links, tables and a summary of its JSON-LD, with SHA-256 digests of source and text. Nothing is fetched and nothing is paid.',
  when_to_use:
    'You already hold the HTML of a page (up to 12,288 characters) and want its content as clean data, or you want to see ' +
    'what an extraction looks like before paying for one. Send `intent: "demo"` to see a labelled sample.',
  delivered: 'A normalized extraction with source digests; samples are labelled.',
  limitations: [
    'No network access: only the HTML in the request is read.',
    'Supplied HTML up to 12 KiB (12,288 characters).',
    'Samples are not live merchant prices.',
  ],
  latency_note:
    'No source is contacted. Bounded source time-outs apply to capabilities that fetch; there is no SLA.',
  amountAtomic: 0n,
  example: {
    capability: 'extract-preview',
    html: '<article><h1>Tea</h1><p>Green tea is steeped for three minutes at eighty degrees.</p></article>',
  },
  tags: ['extraction', 'html', 'markdown', 'free'],
  phrases: ['Extract the main text of this HTML', 'Turn this page source into Markdown', 'Show me a demo'],
  output_schema: resultSchema(PreviewResult),
}

/** Live capabilities, in the order of the catalogue. */
export const descriptors: readonly CapabilityFacts[] = [extractPreview]

export const findDescriptor = (id: string): CapabilityFacts | undefined =>
  descriptors.find((facts) => facts.id === id)
