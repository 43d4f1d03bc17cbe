import { freeOr } from '../schemas/money.ts'
import { ExecuteRequest } from '../schemas/execute-request.ts'
import { Execution } from '../schemas/outcome.ts'
import { descriptors } from '../src/outcomes/descriptors.ts'
import { defineTool } from '../src/registry.ts'

/** One request for a result, in whatever shape the caller has it. */
export const execute = defineTool({
  name: 'gateway_execute',
  title: 'Get a result from public or supplied sources',
  summary:
    'Turns HTML you send into a clean document: title, dates, main text, Markdown, links, tables, JSON-LD summary and ' +
    'SHA-256 digests. Free, no account, no network access. Send {"intent":"demo"} for a labelled sample, or ' +
    '{"capability":"extract-preview","html":"…"} for your own page. A request it does not understand is answered with ' +
    'what was understood and an example that works; it is not a language model.',

  input: ExecuteRequest,
  output: Execution,

  price: freeOr(2000n, 6000n),
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
  errors: [
    'intent_unknown',
    'input_conflict',
    'target_invalid',
    'quote_invalid',
    'payment_invalid',
    'payment_required',
    'payment_rejected',
    'settlement_failed',
    'target_blocked',
    'payment_claimed',
    'payment_identifier_conflict',
    'sources_unusable',
    'settlement_unknown',
    'payments_unavailable',
    'no_route',
    'overloaded',
  ],
  examples: [
    { title: 'A labelled sample, free', input: { intent: 'demo' } },
    ...descriptors.map(({ name, example }) => ({ title: name, input: example })),
  ],
  // A JSON escape takes up to 12 bytes a character: 12,288 of HTML and 3,000 of intent still fit.
  maxBodyBytes: 192 * 1024,

  terms: (input, { outcomes }) => outcomes.terms(input),
  handle: (input, { outcomes, caller, signal, claimId }) =>
    outcomes.execute(input, { caller, signal, claimId }),
})
