// A tool tried from its page: what the form is made of, and the call that a form without a script asks for. The call is one like any
// other, at the visitor's address: limits, prices and refusals are the product's own.
import { GatewayError, toProblem } from '../../core/errors.ts'
import { paymentFactsOf } from '../../core/charging.ts'
import { takesIdempotencyKey } from '../../core/idempotency-key.ts'
import { isAlwaysPaid } from '../../core/price.ts'
import { SANDBOX_HOST } from '../../egress/target.ts'
import type { RegisteredTool } from '../../core/registry.ts'
import { USUAL_DURATION_MS } from '../../core/tool.ts'
import { tokenArgument } from '../../core/token-argument.ts'
import { createSpeller, routeName, spellProblem } from '../../core/tool-words.ts'
import { TOKEN_VARIABLES } from '../../documents/snippets.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { type FieldFault, readForm } from './components/form/read.ts'
import type { TryAnswer, TryFacts, TryState } from './components/try/facts.ts'
import { decimal } from './browser/lib/paid-call.ts'
import { faultsOf, requestOf } from './components/try/request.ts'
import type { PageRequest } from './ports.ts'
import { formTexts } from './texts/form.ts'
import { tryTexts } from './texts/try.ts'

/** Members that hold a secret of the caller's. */
export const SECRET_MEMBERS = ['secret', 'parts', 'permit', 'signature']

/** The page that documents take for any, and one that is there without a network. */
const ANY_PAGE = 'https://example.com/'
const SAMPLE_PAGE = `https://${SANDBOX_HOST}/article`

/** An example that works here: in a sandbox, which may have no network, it is about the page that comes with it. */
const exampleIn = (
  mode: 'sandbox' | 'production',
  input: Record<string, unknown>,
): Record<string, unknown> =>
  mode === 'sandbox' && input['url'] === ANY_PAGE ? { ...input, url: SAMPLE_PAGE } : input

/** What the form of a tool is made of; undefined for a tool that no form can call. */
export function tryFacts(
  { tool, inputSchema, outputSchema }: RegisteredTool,
  mode: 'sandbox' | 'production',
): TryFacts | undefined {
  const [{ method, path, isRaw }] = tool.rest
  if (!tool.doors.includes('rest') || tool.passes || isRaw) return undefined
  const token = tokenArgument(tool)
  const variable = TOKEN_VARIABLES[tool.caller]
  const isMinting = ['key', 'token', 'secret'].some((name) => hasMember(outputSchema, name))
  const needsScript = tool.caller !== 'anyone' ? 'token' : isMinting ? 'secret' : undefined
  return {
    name: tool.name,
    schema: inputSchema,
    examples: tool.examples.flatMap(({ title, input }) =>
      isObject(input) ? [{ title, input: exampleIn(mode, input) }] : [],
    ),
    method,
    path,
    caller: tool.caller,
    ...(variable !== undefined && { tokenIn: variable }),
    isPaid: isAlwaysPaid(tool),
    isDestructive: tool.effects.destructive === true,
    takesKey: takesIdempotencyKey(tool),
    hidden: token === undefined ? [] : [token],
    secret: SECRET_MEMBERS.filter((name) => hasMember(inputSchema, name)),
    ...(needsScript && { needsScript }),
    maxSeconds: Math.ceil((tool.maxDurationMs ?? USUAL_DURATION_MS) / 1000),
  }
}

const hasMember = ({ properties }: RegisteredTool['inputSchema'], name: string) =>
  isObject(properties) && Object.hasOwn(properties, name)

/**
 * The form as it is shown: with an example, or with what was sent and what came of it.
 * @param start input to begin with; the tool's first example unless said
 * @throws {GatewayError} json_too_deep and the like are shown at their field; this throws nothing of its own
 */
export async function tryTool(
  request: PageRequest,
  entry: RegisteredTool,
  start?: Record<string, unknown>,
): Promise<TryState | undefined> {
  const facts = tryFacts(entry, request.site.config.mode)
  if (!facts) return undefined
  const first = start ?? facts.examples[0]?.input ?? {}
  const { form } = request
  if (!form) return { input: first, faults: [] }
  const example = form.get('example')
  // A button that fills the form in sends it, too, where there is no script.
  if (example !== null) return { input: facts.examples[Number(example)]?.input ?? {}, faults: [] }
  const { input: sent, faults } = readForm(form, facts.schema, formTexts[request.language], parseJson)
  // What one can act with is sent, and never drawn into a page.
  const input = Object.fromEntries(Object.entries(sent).filter(([name]) => !facts.secret.includes(name)))
  if (faults.length > 0) return { input, faults, answer: answerOf(400, notSent(faults)) }
  if (facts.needsScript) {
    const words = tryTexts[request.language]
    const detail = facts.needsScript === 'token' ? words.noScriptToken : words.noScriptSecret
    return { input, faults, answer: answerOf(400, { title: words.refused, detail }) }
  }
  if (facts.isDestructive && form.get('confirm') !== 'yes') {
    const { confirm, confirmText } = tryTexts[request.language]
    return { input, faults, answer: answerOf(400, { title: confirm, detail: confirmText }) }
  }
  const answer = await callTool(request, entry, facts, sent)
  return { input, faults: faultsOf(answer.body), answer }
}

const answerOf = (status: number, body: unknown): TryAnswer => ({ status, body })
const notSent = (faults: readonly FieldFault[]) => ({
  title: faults[0]?.message ?? '',
  detail: '',
  fields: faults,
})

async function callTool(
  { site, visitor }: PageRequest,
  { tool }: RegisteredTool,
  facts: TryFacts,
  input: Record<string, unknown>,
): Promise<TryAnswer> {
  const { addresses, calls, registry } = site
  const { path } = requestOf(facts, input)
  const isTooLarge = Buffer.byteLength(JSON.stringify(input)) > tool.maxBodyBytes
  const result = await calls.call({
    tool,
    input,
    ...(isTooLarge && {
      inputError: new GatewayError('body_too_large', `Send at most ${tool.maxBodyBytes} bytes.`),
    }),
    door: 'rest',
    tokens: { bearer: undefined, capabilityHeader: undefined },
    ...visitor,
    resource: { url: addresses.baseUrl + path.split('?', 1)[0], method: facts.method },
  })
  if (result.ok) return answerOf(tool.rest[0].status ?? 200, result.output)
  const { error } = result
  const problem = spellProblem(
    toProblem(error, {
      requestId: visitor.requestId,
      baseUrl: addresses.baseUrl,
      instance: path.split('?', 1)[0] ?? '',
    }),
    createSpeller(registry, routeName),
  )
  const [offer] = paymentFactsOf(error).challenge?.required.accepts ?? []
  return {
    ...answerOf(error.status, problem),
    ...(offer && {
      price: { amount: decimal(offer.amount), asset: 'USDC', network: offer.network, pay_to: offer.payTo },
    }),
  }
}
