import { z } from 'zod'
import { MAX_HTML_CHARACTERS, OutcomeId } from './outcome.ts'

/** JSON Schema counts characters, JavaScript counts UTF-16 units: the server must agree with the schema it publishes. */
const text = (maxCharacters: number) =>
  z
    .string()
    .refine(
      (value) => value.length <= maxCharacters || [...value].length <= maxCharacters,
      `Too long: at most ${maxCharacters} characters`,
    )
    .meta({ maxLength: maxCharacters })

const uri = z.url()
const Source = z.union([
  z
    .url()
    .regex(/^https:\/\//)
    .meta({ format: 'uri' }),
  z.strictObject({ url: uri, fallbacks: z.array(uri).max(1).optional() }),
])
const object = z.record(z.string(), z.unknown())

/** What a request for an outcome may say, at the top and inside every wrapper. */
const requestFields = {
  intent: z
    .union([text(3000), object])
    .optional()
    .describe(
      'The job in words (`demo` for a sample), or an object with any of these fields and `text`, `goal` or `type`',
    ),
  capability: OutcomeId.optional(),
  url: uri.optional().describe('A source; with `html`, the address that relative links are resolved against'),
  urls: z.array(uri).max(3).optional(),
  sources: z.array(Source).max(3).optional().describe('HTTPS sources, each with at most one fallback'),
  action: z.string().optional(),
  desired_action: z.string().optional(),
  html: text(MAX_HTML_CHARACTERS)
    .optional()
    .describe('HTML to extract from: at most 12,288 Unicode characters, however many bytes they take'),
  limit: z.int().min(1).max(30).optional(),
  max_age_seconds: z.int().min(0).max(60).optional(),
  query: text(200).optional(),
  testnet: z.boolean().optional(),
  input: object.optional().describe('Wrapper: any of these fields'),
  arguments: object.optional().describe('Wrapper: any of these fields'),
  name: z.string().optional().describe('A capability id or the name of this tool'),
  tool: z.string().optional().describe('A capability id or the name of this tool'),
  operation: object
    .optional()
    .describe(
      'A resolved read-only OpenAPI operation: url, method, desired_action. No specification is fetched',
    ),
  http: object.optional().describe('An HTTP request as data: method, url, body'),
  command: z.string().optional().describe('A command line: a capability id, `demo`, or curl with a URL'),
  task: object.optional().describe('Wrapper: any of these fields, or `skill` with `input`'),
}

/** The same without defaults: inside a wrapper, what was not said must not count as said. */
export const WrappedRequest = z.strictObject(requestFields)
/** An intent as an object may say its words under the names that planners use. */
export const WrappedIntent = z.strictObject({
  ...requestFields,
  text: z.string().optional(),
  goal: z.string().optional(),
  type: z.string().optional(),
  description: z.string().optional(),
})
export const WrappedTask = z.strictObject({
  ...requestFields,
  skill: z.string().optional(),
  skill_id: z.string().optional(),
  description: z.string().optional(),
})
export const WrappedHttp = z.strictObject({
  method: z.string().default('GET'),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()).optional(),
  body: z.union([z.string(), object]).optional(),
})
export const WrappedOperation = z.strictObject({
  url: z.string(),
  method: z.string().default('GET'),
  action: z.string().optional(),
  desired_action: z.string().optional(),
  summary: z.string().optional(),
  operation_id: z.string().optional(),
  operationId: z.string().optional(),
  body: z.union([z.string(), object]).optional(),
})

export const ExecuteRequest = z.strictObject({
  ...requestFields,
  max_age_seconds: z.int().min(0).max(60).default(0),
  testnet: z.boolean().default(false),
})
export type ExecuteRequest = z.infer<typeof ExecuteRequest>
