// Every schema that a model is shown, against the published rules of the model APIs: a list is refused whole for one word in one tool.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { parseInput } from '../../src/core/input.ts'
import { createRegistry, portableName, type RegisteredTool } from '../../src/core/registry.ts'
import { createCatalogue } from '../../src/doors/mcp/catalogue.ts'
import type { Audience } from '../../src/doors/mcp/audience.ts'
import { tools } from '../../tools/index.ts'
import { fuzzSeed, validInput } from '../support/fuzz.ts'
import { anthropicRefusals, anthropicStrictRefusals } from '../support/model-apis/rules-anthropic.ts'
import { asGeminiAdaptersSend, geminiRefusals } from '../support/model-apis/rules-gemini.ts'
import { openaiRefusals, strictRefusals, toOpenaiStrict } from '../support/model-apis/rules-openai.ts'
import { eachSchema, type Schema } from '../support/model-apis/schema-walk.ts'
import { tokensOf } from '../support/tokens.ts'

const registry = createRegistry(tools)
const production = createRegistry(tools, { mode: 'production', creditPriceAtomic: 1000n })
const served = registry.tools.filter(({ tool }) => tool.doors.includes('mcp'))
const catalogue = createCatalogue(
  registry,
  { baseUrl: 'http://localhost:8402', siteUrl: 'http://localhost:8402', mcpUrl: 'http://localhost:8402/mcp' },
  { tools: [], capabilities: {} },
)

/** Tools that take members which nobody can name beforehand, so that no strict schema describes them: APIs take them as they are. */
const OPEN: Readonly<Record<string, string>> = {
  'gateway.inspect': 'header fields',
  'gateway.test': 'header fields',
  'gateway.egress.fetch': 'header fields',
  'gateway.actions.execute': 'header fields',
  'gateway.actions.prepare': 'header fields',
  'gateway.egress.credentials.create': 'parts of a secret by name, and settings',
  'gateway.egress.credentials.edit': 'settings',
  'gateway.egress.credentials.rotate': 'parts of a secret by name',
  'gateway.marketplace.call': 'query and body of somebody else’s API',
  'gateway.facilitator.verify': 'messages of x402',
  'gateway.facilitator.settle': 'messages of x402',
  'gateway.seller.create': 'schemas and examples of routes',
  'gateway.seller.update': 'schemas and examples of routes',
  'gateway.seller.import': 'an OpenAPI document',
}

/** Where documents say more than a list has room for, in unions that not every adapter keeps: kinds of a secret, places, budgets. */
const WHOLE_IN_DOCUMENTS = ['gateway.egress.credentials.create', 'gateway.egress.credentials.edit']

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true })
addFormats.default(ajv)

const shown = served.flatMap((entry) => [
  {
    name: entry.tool.name,
    of: 'the list',
    schema: { type: 'object', ...entry.listedSchema } as Schema,
    entry,
  },
  { name: entry.tool.name, of: 'documents', schema: entry.inputSchema as Schema, entry },
])
const forModels = shown.filter(({ name, of }) => of === 'the list' || !WHOLE_IN_DOCUMENTS.includes(name))

describe.each(shown)('$name in $of', ({ name, of, schema, entry }) => {
  it('is JSON Schema 2020-12 under strict rules', () => {
    expect(() => ajv.compile(schema)).not.toThrow()
  })

  it('has words for every member, and no member without a type', () => {
    const silent: string[] = []
    const typeless: string[] = []
    eachSchema(schema, ({ properties }, at) => {
      for (const [member, inner] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
        const { description, type, anyOf } = inner
        const inside = Array.isArray(anyOf)
          ? (anyOf as Schema[]).some((branch) => branch['description'])
          : false
        if (!description && !inside) silent.push(`${at}/${member}`)
        if (type === undefined && anyOf === undefined) typeless.push(`${at}/${member}`)
      }
    })
    expect({ silent, typeless }).toEqual({ silent: [], typeless: [] })
  })

  it('has no expression that nobody reads', () => {
    eachSchema(schema, ({ pattern }) => expect(String(pattern ?? '').length).toBeLessThanOrEqual(100))
  })

  it('takes every example as it stands, in a sandbox and in production', () => {
    const validate = ajv.compile(schema)
    const { tool } = production.find(entry.tool.name)!
    const sold = [...(entry.tool.sold ?? []), ...(tool.sold ?? [])]
    for (const { input } of [...entry.tool.examples, ...tool.examples, ...sold])
      expect(validate(input), `${JSON.stringify(input)}: ${JSON.stringify(validate.errors)}`).toBe(true)
  })

  it('admits nothing whose shape the tool refuses', () => {
    const SHAPE = ['invalid_type', 'unrecognized_keys', 'invalid_union', 'invalid_element', 'invalid_value']
    fc.assert(
      fc.property(validInput(closed(schema)), (input) => {
        const issues = entry.tool.input.safeParse(input).error?.issues ?? []
        const refused = issues.filter(
          ({ code, path }) =>
            SHAPE.includes(code) && !(of === 'the list' && IN_SHORT[name]?.includes(String(path[0]))),
        )
        expect(refused, JSON.stringify(input)).toEqual([])
      }),
      { numRuns: 25, seed: fuzzSeed },
    )
  })
})

/** An input as a model sends it whose output is constrained to a strict schema: every member, null for what is not said. */
function everyMember(input: unknown, { properties }: Schema): unknown {
  if (typeof input !== 'object' || input === null || properties === undefined) return input
  const said = input as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties as Record<string, Schema>).map(([name, member]) => [
      name,
      name in said ? everyMember(said[name], member) : null,
    ]),
  )
}

/** Where null says something of its own (a contact that is removed), a strict schema cannot leave the member out: words say so. */
const NULL_IS_A_VALUE = ['gateway.seller.edit']

const strict = shown.filter(
  ({ name, of }) => of === 'the list' && OPEN[name] === undefined && !NULL_IS_A_VALUE.includes(name),
)
describe.each(strict)('$name, called under a strict schema', ({ schema, entry: { tool } }) => {
  it('takes null for what is left out', () => {
    for (const { title, input } of tool.examples) {
      const sent = everyMember(input, schema)
      expect(ajv.compile(toOpenaiStrict(schema))(sent), title).toBe(true)
      expect(parseInput(tool, sent, { hideNames, nullIsAbsent: true }), title).toEqual(
        parseInput(tool, input, { hideNames }),
      )
    }
  })
})

/** Members of which a list says only that they are an object: what is in them is checked where it is described. */
const IN_SHORT: Readonly<Record<string, readonly string[]>> = {
  'gateway.actions.prepare': ['request', 'mandate'],
  'gateway.actions.mandates.create': ['methods'],
  'gateway.egress.credentials.create': ['settings', 'methods'],
  'gateway.egress.credentials.edit': ['settings', 'methods', 'budgets'],
  'gateway.egress.capabilities.issue': ['methods'],
  'gateway.egress.capabilities.narrow': ['methods'],
}

/** A list does not say that its objects are closed, as all of ours are. */
function closed(schema: Schema): Schema {
  const { properties, items } = schema
  return {
    ...schema,
    ...(items !== undefined && { items: closed(items as Schema) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Record<string, Schema>).map(([name, member]) => [name, closed(member)]),
      ),
      additionalProperties: schema['additionalProperties'] ?? false,
    }),
  }
}

describe.each(forModels)('$name in $of', ({ name, schema }) => {
  const tool = { name: portableName(name), schema }
  const open = OPEN[name]

  it('is a function that OpenAI takes', () => {
    expect(openaiRefusals(tool)).toEqual([])
  })

  it(open === undefined ? 'is one that it takes strictly' : `is never strict: ${open}`, () => {
    if (open === undefined) expect(strictRefusals(toOpenaiStrict(schema))).toEqual([])
    else expect(() => toOpenaiStrict(schema)).toThrow('must set additionalProperties: false')
  })

  it('is a tool that Anthropic takes, and one that it takes strictly where it is closed', () => {
    expect(anthropicRefusals(tool)).toEqual([])
    if (open === undefined) expect(anthropicStrictRefusals(schema)).toEqual([])
  })

  it('is a declaration that Gemini takes as adapters send it', () => {
    expect(geminiRefusals({ ...tool, schema: asGeminiAdaptersSend(schema) })).toEqual([])
  })
})

describe('the weight of the list', () => {
  const weigh = (audience: Audience) =>
    (['dotted', 'portable'] as const).flatMap((spelling) =>
      (['legacy', 'modern'] as const).map((era) =>
        tokensOf(String(catalogue.listResult(era, { spelling, audience, selection: undefined }))),
      ),
    )

  it('is at most 8,000 tokens for anybody, with every public tool', () => {
    const listed = catalogue.tools({ spelling: 'portable', audience: 'public', selection: undefined })
    expect(listed).toHaveLength(served.filter(isPublic).length)
    expect(Math.max(...weigh('public'))).toBeLessThanOrEqual(8000)
  })

  it.each(['operator', 'admin', 'seller'] as const)(
    'is at most 12,000 tokens for the key of %s',
    (audience) => {
      expect(Math.max(...weigh(audience))).toBeLessThanOrEqual(12_000)
    },
  )

  it('says what a tool does in at most sixty words, and a price', () => {
    for (const { tool } of served)
      expect((tool.brief ?? tool.summary).split(/\s+/).length, tool.name).toBeLessThanOrEqual(60)
  })
})

const isPublic = ({ tool: { caller } }: RegisteredTool) => !['operator', 'admin', 'seller'].includes(caller)
