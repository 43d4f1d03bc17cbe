// One page in normalised form, as previews and paid extractions return it.
import { z } from 'zod'

const Link = z.strictObject({
  url: z.string().describe('Absolute where the page or the request gave a base, else as written'),
  absolute: z.boolean(),
  text: z.string(),
  in_text: z.boolean().describe('It stands in the main text, not in navigation or beside it'),
})

const DataTable = z.strictObject({
  caption: z.string().nullable(),
  header: z.array(z.string()).describe('Cells of the header row; empty when there is none'),
  rows: z.array(z.array(z.string())),
})

const OfferSummary = z.strictObject({
  price: z.string().nullable().describe('Decimal text as stated, never rounded'),
  currency: z.string().nullable(),
  availability: z.string().nullable().describe('Last segment of the schema.org value, such as InStock'),
})

const ProductSummary = z.strictObject({
  name: z.string().nullable(),
  brand: z.string().nullable(),
  sku: z.string().nullable(),
  gtin: z.string().nullable(),
  offers: z.array(OfferSummary),
})

/** One page in normalised form. Everything in it is quoted from the source and as trustworthy as the source. */
export const ExtractedDocument = z.strictObject({
  title: z.string().nullable(),
  byline: z.string().nullable(),
  site_name: z.string().nullable(),
  language: z.string().nullable().describe('BCP 47 tag'),
  language_source: z
    .enum(['html', 'meta', 'header', 'text'])
    .nullable()
    .describe('Where it is from: declared, or told from the text where nothing true is declared'),
  description: z.string().nullable(),
  canonical_url: z
    .string()
    .nullable()
    .describe('As the page declares it; on another registrable domain than the page it is left out'),
  published_time: z
    .string()
    .nullable()
    .describe('ISO 8601 with the zone as stated by the page; no zone where it states none'),
  modified_time: z.string().nullable(),
  headings: z.array(z.strictObject({ level: z.int().min(1).max(6), text: z.string() })),
  text: z.string().describe('Main text: NFC, single spaces, blocks separated by a blank line'),
  markdown: z.string(),
  word_count: z.int().min(0),
  links: z
    .array(Link)
    .describe(
      'Those of the main text first, each in the order of the page; of the others only some, see `truncated`',
    ),
  tables: z.array(DataTable),
  structured_data: z.strictObject({
    types: z.array(z.string()).describe('schema.org types found in JSON-LD, sorted'),
    products: z.array(ProductSummary),
    invalid_scripts: z.int().min(0).describe('JSON-LD scripts that are not valid JSON'),
  }),
})
export type ExtractedDocument = z.infer<typeof ExtractedDocument>

/** The same as an answer holds it: with text, with Markdown or with both. */
export const ShownDocument = z.strictObject({
  ...ExtractedDocument.shape,
  text: ExtractedDocument.shape.text.optional(),
  markdown: ExtractedDocument.shape.markdown.optional(),
})

const WARNING_CODES = [
  'zero_width_characters',
  'bidi_controls',
  'tag_characters',
  'hidden_text',
  'hidden_instructions',
  'instructions_in_text',
] as const
export const ContentWarning = z.strictObject({
  code: z.enum(WARNING_CODES),
  count: z.int().min(1),
  message: z.string(),
})
export type ContentWarning = z.infer<typeof ContentWarning>
