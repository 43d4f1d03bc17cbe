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
  byline: z.string().nullable().describe('The authors in one line'),
  authors: z.array(z.string()).describe('Who wrote it as the page states, in its order; never an address'),
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
  start: z
    .int()
    .min(0)
    .optional()
    .describe('Offset in the whole text at which `text` begins, in Unicode characters'),
  next_start: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe('Send it as `start` for what follows; null at the end'),
  characters: z.int().min(0).optional().describe('Unicode characters of the whole text'),
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
    invalid_scripts: z.int().min(0).describe('JSON-LD scripts that could not be read, even with repairs'),
    repaired: z
      .array(z.string())
      .optional()
      .describe('What JSON-LD scripts had to be forgiven, such as `trailing_comma`'),
  }),
})
export type ExtractedDocument = z.infer<typeof ExtractedDocument>

/** The same as an answer holds it: with text, with Markdown or with both. */
export const ShownDocument = z.strictObject({
  ...ExtractedDocument.shape,
  text: ExtractedDocument.shape.text.optional(),
  markdown: ExtractedDocument.shape.markdown.optional(),
})

/** How a document was made, for a buyer to judge: few words of many, or much boilerplate, may be a page that was misread. */
export const DocumentQuality = z.strictObject({
  mode: z
    .string()
    .describe('How the main text was found; `body` with 30 words and less is the least certain'),
  words: z.int().min(0).describe('Of the main text'),
  page_words: z.int().min(0).describe('Of the whole page, estimated'),
  boilerplate: z
    .array(
      z.strictObject({
        kind: z
          .enum(['chrome', 'named', 'weak', 'comments'])
          .describe(
            '`chrome`: elements such as navigation and footers; `named`: known by their class or id; `weak`: by a name that whole ' +
              'layouts have as well; `comments`',
          ),
        words: z.int().min(0),
      }),
    )
    .describe('Taken for something else than content, by kind'),
})
export type DocumentQuality = z.infer<typeof DocumentQuality>

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
