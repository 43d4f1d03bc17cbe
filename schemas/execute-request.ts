import { z } from 'zod'
import { MAX_HTML_CHARACTERS, OutcomeId } from './outcome.ts'
import { REDIRECT_RULES } from './sources.ts'

/** JSON Schema counts characters, JavaScript counts UTF-16 units: the server must agree with the schema it publishes. */
const text = (maxCharacters: number) =>
  z
    .string()
    .refine(
      (value) => value.length <= maxCharacters || [...value].length <= maxCharacters,
      `Too long: at most ${maxCharacters} characters`,
    )
    .meta({ maxLength: maxCharacters })

/** Nothing is trimmed: what is checked is what is sent. */
const isUri = (value: string) => URL.canParse(value) && !/[\s\p{Cc}]/u.test(value)
const uri = z
  .string()
  .refine(isUri, 'Invalid URI: send an absolute one, such as https://example.com/page')
  .meta({ format: 'uri' })
const Source = z.union([
  z
    .string()
    .regex(/^https:\/\//, 'Invalid URI: a source begins with https://')
    .refine(isUri, 'Invalid URI: send an absolute one, such as https://example.com/page')
    .meta({ format: 'uri' }),
  z.strictObject({ url: uri, fallbacks: z.array(uri).max(1).optional() }),
])
const object = z.record(z.string(), z.unknown())

/** Accepted from clients that have it in this form, and not published: one way to say a thing is enough for a model. */
const hidden = <T extends z.ZodType>(schema: T) => schema.optional().meta({ advertised: false })

export const DOCUMENT_FORMATS = ['text', 'markdown', 'both'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

const maxAgeSeconds = z
  .int()
  .min(0)
  .max(60)
  .describe('Age at which a kept copy still does; 0: ask the source')
const testnet = z.boolean().describe('Pay with test money (eip155:84532)')

/** The fields that a request for an outcome may have, at the top and inside every wrapper. */
const requestFields = {
  intent: z
    .union([text(3000), object])
    .meta({ advertisedAs: { type: 'string', maxLength: 3000 } })
    .optional()
    .describe('The job in words, English or Arabic, URLs included; `demo` for a free sample'),
  capability: OutcomeId.optional().describe('Which job'),
  url: uri.optional().describe('One source; with `html`, the base of its relative links'),
  urls: z.array(uri).max(3).optional().describe('Sources, at most three with `url`'),
  sources: z
    .array(Source)
    .max(3)
    .meta({ advertisedAs: { type: 'array', items: { type: 'string', pattern: '^https://' }, maxItems: 3 } })
    .optional()
    .describe('The same, https only'),
  action: hidden(z.string()).describe('The job in words'),
  desired_action: hidden(z.string()).describe('The job in words'),
  html: text(MAX_HTML_CHARACTERS).optional().describe('HTML to extract from: at most 12,288 characters'),
  limit: z.int().min(1).max(30).optional().describe('Most entries of a digest; 30 by default'),
  max_age_seconds: maxAgeSeconds.optional(),
  redirects: z
    .enum(REDIRECT_RULES)
    .optional()
    .describe('Redirects to follow: `same_site` unless said')
    .meta({ listed: false }),
  start: z
    .int()
    .min(0)
    .max(10_000_000)
    .optional()
    .describe('Of one source: `next_start` of its last answer, to read on')
    .meta({ listed: false }),
  query: text(200).optional().describe('What passages should be about'),
  format: z
    .enum(DOCUMENT_FORMATS)
    .optional()
    .describe('Form of documents: markdown unless said, over REST both')
    .meta({ listedAs: { description: 'Markdown unless said' } }),
  testnet: testnet.optional(),
  input: hidden(object).describe('Wrapper: any of these fields'),
  arguments: hidden(object).describe('Wrapper: any of these fields'),
  name: hidden(z.string()).describe('A capability id or the name of this tool'),
  tool: hidden(z.string()).describe('A capability id or the name of this tool'),
  operation: hidden(object).describe(
    'A resolved read-only OpenAPI operation: url (or server and path), method GET or HEAD, desired_action, values of its ' +
      'parameters. No specification is ever fetched',
  ),
  http: hidden(object).describe('An HTTP request as data: method, url, body'),
  command: hidden(z.string()).describe(
    'A command line: a capability id with --url, --limit or --query, `demo`, or curl or wget with a URL',
  ),
  task: hidden(object).describe('Wrapper: any of these fields, or `skill` with `input`'),
}

/** The same without defaults: inside a wrapper, what was not said must not count as said. */
export const WrappedRequest = z.strictObject(requestFields)

/** The names under which planners put the words of a job. */
const wordFields = {
  text: z.string().optional(),
  goal: z.string().optional(),
  type: z.string().optional(),
  description: z.string().optional(),
  prompt: z.string().optional(),
}
export const WORD_FIELDS = ['action', 'desired_action', ...Object.keys(wordFields)] as const

/** An intent as an object. */
export const WrappedIntent = z.strictObject({ ...requestFields, ...wordFields })
/** A task as planners and the A2A protocol write it. */
export const WrappedTask = z.strictObject({
  ...requestFields,
  ...wordFields,
  id: z.string().optional(),
  skill: z.string().optional(),
  skill_id: z.string().optional(),
  parameters: object.optional(),
  message: z
    .union([
      z.string(),
      z.looseObject({
        parts: z.array(z.looseObject({ text: z.string().optional(), data: object.optional() })).max(8),
      }),
    ])
    .optional(),
})
export const WrappedHttp = z.strictObject({
  method: z.string().default('GET'),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()).optional(),
  body: z.union([z.string(), object]).optional(),
  action: z.string().optional(),
  desired_action: z.string().optional(),
})

const scalar = z.union([z.string(), z.number(), z.boolean()])
/** OpenAPI says much about an operation that is not needed to read it: that is let through and not looked at. */
export const WrappedOperation = z.looseObject({
  url: z.string().optional(),
  server: z.union([z.string(), z.looseObject({ url: z.string() })]).optional(),
  servers: z.array(z.union([z.string(), z.looseObject({ url: z.string() })])).optional(),
  path: z.string().optional(),
  method: z.string().default('GET'),
  action: z.string().optional(),
  desired_action: z.string().optional(),
  body: z.union([z.string(), object]).optional(),
  parameters: z
    .union([
      z
        .array(
          z.looseObject({ name: z.string().optional(), in: z.string().optional(), value: scalar.optional() }),
        )
        .max(64),
      z.record(z.string(), z.union([scalar, z.null(), object, z.array(z.unknown())])),
    ])
    .optional(),
})

export const ExecuteRequest = z.strictObject({
  ...requestFields,
  max_age_seconds: maxAgeSeconds.default(0),
  testnet: testnet.default(false),
})
export type ExecuteRequest = z.infer<typeof ExecuteRequest>
