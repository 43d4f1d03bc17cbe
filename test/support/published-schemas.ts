// Whether an answer of gateway_execute is what the gateway publishes of it: in OpenAPI, where MCP describes the tool, in the descriptor.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { createRegistry } from '../../src/core/registry.ts'
import { answerSchema } from '../../src/doors/mcp/answer-schema.ts'
import { must } from '../../src/lib/must.ts'
import { tools } from '../../tools/index.ts'

// Documents are read as they come; a wrong shape fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

export interface PublishedSchemas {
  /** The descriptors of the catalogue. */
  readonly capabilities: readonly { readonly id: string; readonly example: Record<string, unknown> }[]
  /** Empty where all three describe the answer; else what each of them finds wrong. */
  misfits(answer: unknown): string[]
}

export async function loadPublishedSchemas(baseUrl: string): Promise<PublishedSchemas> {
  const get = async (path: string): Promise<Json> => (await fetch(`${baseUrl}${path}`)).json()
  const [openapi, catalogue] = await Promise.all([get('/openapi.json'), get('/v1/capabilities')])
  const tool = must(createRegistry(tools).find('gateway_execute'), 'gateway_execute')
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ ...openapi, $id: 'openapi' })
  const response = openapi.paths['/v1/execute'].post.responses['200'].content['application/json'].schema
  const everywhere: [string, ValidateFunction][] = [
    ['openapi', ajv.compile(response.$ref ? { $ref: `openapi${response.$ref}` } : response)],
    ['mcp', ajv.compile(answerSchema(tool))],
  ]
  const descriptors = new Map<string, ValidateFunction>(
    catalogue.capabilities.map((each: Json) => [each.id, ajv.compile(each.output_schema)]),
  )
  return {
    capabilities: catalogue.capabilities,
    misfits(answer) {
      const { capability } = answer as { capability: string }
      const own = descriptors.get(capability)
      if (!own) return [`there is no descriptor of ${capability}`]
      return [...everywhere, [capability, own] as const].flatMap(([name, validate]) =>
        validate(answer) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`],
      )
    },
  }
}
