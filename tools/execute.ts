import { z } from 'zod'
import { free } from '../schemas/money.ts'
import { Execution, MAX_HTML_CHARACTERS, OutcomeId } from '../schemas/outcome.ts'
import { descriptors } from '../src/outcomes/descriptors.ts'
import { defineTool } from '../src/registry.ts'

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
  z.url().regex(/^https:\/\//),
  z.strictObject({ url: uri, fallbacks: z.array(uri).max(1).optional() }),
])
const object = z.record(z.string(), z.unknown())

/** One request for a result, in whatever shape the caller has it. */
export const execute = defineTool({
  name: 'gateway_execute',
  title: 'Get a result from public or supplied sources',
  summary:
    'Turns HTML you send into a clean document: title, dates, main text, Markdown, links, tables, JSON-LD summary and ' +
    'SHA-256 digests. Free, no account, no network access. Send {"intent":"demo"} for a labelled sample, or ' +
    '{"capability":"extract-preview","html":"…"} for your own page. A request it does not understand is answered with ' +
    'what was understood and an example that works; it is not a language model.',

  input: z.strictObject({
    intent: z
      .union([text(3000), object])
      .optional()
      .describe('The job in words (`demo` for a sample), or an object with any of these fields'),
    capability: OutcomeId.optional(),
    url: uri
      .optional()
      .describe('A source; with `html`, the address that relative links are resolved against'),
    urls: z.array(uri).max(3).optional(),
    sources: z.array(Source).max(3).optional().describe('HTTPS sources, each with at most one fallback'),
    action: z.string().optional(),
    desired_action: z.string().optional(),
    html: text(MAX_HTML_CHARACTERS)
      .optional()
      .describe('HTML to extract from: at most 12,288 Unicode characters, however many bytes they take'),
    limit: z.int().min(1).max(30).optional(),
    max_age_seconds: z.int().min(0).max(60).default(0),
    query: text(200).optional(),
    testnet: z.boolean().default(false),
    input: object.optional().describe('Wrapper: any of these fields'),
    arguments: object.optional().describe('Wrapper: any of these fields'),
    name: z.string().optional().describe('A capability id or the name of this tool'),
    tool: z.string().optional().describe('A capability id or the name of this tool'),
    operation: object
      .optional()
      .describe(
        'A resolved read-only OpenAPI operation: URL, method, desired action. No specification is fetched',
      ),
    http: object.optional().describe('An HTTP request as data: method, url, body'),
    command: z.string().optional().describe('A command line: a capability id, `demo`, or curl with a URL'),
    task: object.optional().describe('Wrapper: any of these fields, or a skill id with input'),
  }),
  output: Execution,

  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/execute', operationId: 'gatewayExecute' },
  skill: descriptors.map(({ id, name, description, tags, phrases }) => ({
    id,
    name,
    description,
    tags,
    examples: phrases,
  })),
  errors: ['intent_unknown', 'input_conflict', 'outcome_not_live'],
  examples: [
    { title: 'A labelled sample, free', input: { intent: 'demo' } },
    ...descriptors.map(({ name, example }) => ({ title: name, input: example })),
  ],
  // A JSON escape takes up to 12 bytes a character: 12,288 of HTML and 3,000 of intent still fit.
  maxBodyBytes: 192 * 1024,

  async handle(input, { outcomes, caller, signal }) {
    return outcomes.execute(input, { caller, signal })
  },
})
