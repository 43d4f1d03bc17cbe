// The catalogue's entry for paid web fetch: a tool with the fields of a capability.
import type { Addresses } from '../core/config.ts'
import type { RegisteredTool } from '../core/registry.ts'
import { priceOf } from './price.ts'

/** The catalogue's entry of paid web fetch, in the shape of the outcomes beside it. */
export const describeWebFetch = (
  { tool, inputSchema, outputSchema }: RegisteredTool,
  { baseUrl, siteUrl, mcpUrl }: Addresses,
): Record<string, unknown> => ({
  id: tool.name,
  name: tool.title,
  description: tool.summary,
  when_to_use:
    'You need the content of one public HTTPS page or document, can pay for it with x402, and want a receipt and ' +
    'evidence of what was fetched. When you are not sure, ask for a preflight first; it is free.',
  input_schema: inputSchema,
  output_schema: outputSchema,
  pricing: priceOf(
    tool.price.kind === 'x402' ? tool.price.amountAtomic : 0n,
    'The content as text, JSON or base64 with its SHA-256 digest, status and headers of the source, a signed receipt ' +
      'and signed evidence of the execution.',
  ),
  availability: 'live',
  execute_url: baseUrl + tool.rest[0].path,
  protocols: ['http', 'mcp', 'a2a'],
  expected_latency_ms: null,
  latency_note:
    'Bounded source time-outs apply: timeout_ms, at most 10 seconds, and the settlement on chain. There is no SLA.',
  limitations: [
    'One public HTTPS URL; GET and HEAD; redirects are reported and not followed.',
    'Content is cut at max_bytes, 131,072 at most, and then marked as truncated.',
    'No script runs, no cookie or credential is sent, and source content is untrusted.',
    'Any complete HTTP answer is charged, 3xx to 5xx included. With mode `json` nothing is charged for what is not JSON.',
  ],
  example: tool.examples[0]!.input,
  url: `${siteUrl}/capabilities/${tool.name}`,
  schema_url: `${baseUrl}/v1/capabilities/${tool.name}`,
  mappings: {
    mcp: { endpoint: mcpUrl, tool: tool.name },
    a2a: { endpoint: `${baseUrl}/a2a`, skill: tool.skills[0]!.id },
    openapi: { url: `${baseUrl}/openapi.json`, operationId: tool.rest[0].operationId },
  },
})
