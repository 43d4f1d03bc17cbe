import { z } from 'zod'
import { answerFrom } from '../schemas/answer-from.ts'
import { MAX_LIMITS } from '../schemas/credential-settings.ts'
import { capabilityArgument, EgressReply, idempotencyKeyArgument } from '../schemas/egress.ts'
import { HttpMethod } from '../schemas/http.ts'
import { credits } from '../src/core/price.ts'
import { isBase64 } from '../src/egress/request.ts'
import { ATTEMPT_COST } from '../src/egress/wire.ts'
import { defineTool } from './services.ts'

/** What stands in the message beside the body: URL, headers, names. */
const LARGEST_REST_BYTES = 64 * 1024

/** One outbound request under a stored credential. The caller never sees the credential. */
export const egressFetch = defineTool({
  name: 'gateway.egress.fetch',
  toolset: 'egress',
  title: 'Call an API with a stored credential',
  summary:
    'Sends one HTTPS request with a credential the gateway holds and returns the upstream answer as data. ' +
    'Needs a capability that names the host, path and method; costs 1 credit. ' +
    'Redirects are returned, not followed; nothing is ever retried: after outcome_ambiguous look the attempt up ' +
    'before you send again. With `idempotency_key` a call that you repeat is not sent again: you get the first answer. Do not ' +
    'add authentication, or an Idempotency-Key among `headers`: the gateway does both.',

  brief:
    'Sends one HTTPS request with a credential that the gateway holds. Needs a capability for its host, path and method; 1 credit. Add no authentication. Redirects are returned, nothing is retried: after outcome_ambiguous read the attempt before you send again.',
  input: z.strictObject({
    capability: capabilityArgument,
    idempotency_key: idempotencyKeyArgument,
    answer_from: answerFrom,
    url: z.string().min(1).max(8192).describe('Canonical https URL, sent in exactly this spelling'),
    method: HttpMethod.default('GET').describe('HTTP method'),
    headers: z
      .record(z.string().max(64), z.string().max(8192))
      .default({})
      .describe('accept, content-type, conditional and API version headers; others are refused by name')
      .meta({ listedAs: { description: 'accept, content-type, conditional, API version' } }),
    body: z
      .string()
      .max(MAX_LIMITS.max_request_bytes)
      .optional()
      .describe('Request body as text; at most 128 KiB in UTF-8 unless the credential allows more')
      .meta({ listedAs: { description: 'Body as text; usually at most 128 KiB' } }),
    body_base64: z
      .string()
      .max(Math.ceil(MAX_LIMITS.max_request_bytes / 3) * 4)
      .refine(isBase64, 'must be standard base64 with padding')
      .optional()
      .describe('Body in base64, instead of `body`'),
    timeout_ms: z
      .int()
      .min(100)
      .max(MAX_LIMITS.timeout_ms)
      .optional()
      .describe('Deadline for the answer; 30000 by default, and at most unless the credential allows more')
      .meta({ listedAs: { description: '30000 by default' } }),
    max_bytes: z
      .int()
      .min(1)
      .max(MAX_LIMITS.max_response_bytes)
      .optional()
      .describe(
        'Largest response body accepted; 1 MiB by default, and at most unless the credential allows more. A larger one is an error',
      )
      .meta({ listedAs: { description: 'Largest answer; 1 MiB by default' } }),
  }),
  output: EgressReply,

  price: credits(ATTEMPT_COST, { within: 'attempt' }),
  caller: 'capability',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/egress/fetch', operationId: 'egressFetch' },
  maxDurationMs: MAX_LIMITS.timeout_ms,
  async largestBody({ capability }, { egress }) {
    const bytes = await egress.maxRequestBytes(capability)
    return Math.ceil((bytes * 4) / 3) + LARGEST_REST_BYTES
  },
  skill: {
    id: 'egress-fetch',
    name: 'Call an API with a stored credential',
    tags: ['egress', 'credentials', 'http'],
    examples: [
      'Open a GitHub issue with the token I stored',
      'List the models of my account, without the API key',
    ],
  },
  errors: [
    'calls_spent',
    'budget_spent',
    'capability_required',
    'capability_invalid',
    'target_invalid',
    'header_forbidden',
    'scope_denied',
    'target_blocked',
    'body_too_large',
    'upstream_unreachable',
    'credential_unavailable',
    'outcome_ambiguous',
    'secret_reflected',
    'response_too_large',
    'response_unacceptable',
    'input_conflict',
    'idempotency_key_reused',
    'idempotency_key_in_use',
    'idempotency_answer_gone',
    'egress_paused',
  ],
  examples: [
    {
      title: 'Read from an API',
      input: { url: 'https://api.github.com/user', method: 'GET', headers: { accept: 'application/json' } },
    },
    {
      title: 'Create something',
      input: {
        url: 'https://api.github.com/repos/acme/site/issues',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"title":"Broken link on the front page"}',
      },
    },
  ],

  // A request that does something is not repeated for its answer: without a key that keeps the answer, it comes whole.
  readOn({ idempotency_key, method = 'GET' }, { answer_kept }) {
    if (idempotency_key !== undefined && answer_kept !== false)
      return (next) =>
        `Send the same call with the same idempotency_key and "answer_from": ${next}: nothing is sent or charged again.`
    if (method !== 'GET' && method !== 'HEAD') return undefined
    return (next) =>
      `Send the same call with "answer_from": ${next} (another request, for 1 credit), or ask the API for less.`
  },
  handle: async function egressFetch(
    { capability: _carried, answer_from: _part, ...request },
    { egress, caller, charge },
  ) {
    return egress.fetch(request, await egress.capabilityFor(caller.capability, request), charge)
  },
})
