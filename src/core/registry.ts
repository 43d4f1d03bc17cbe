// How a tool's file writes it, and the list of all of them. What types cannot refuse is refused at start, in a sentence that
// says what to write (tool-check.ts).
import { z } from 'zod'
import { CreditsCharged } from '../../schemas/money.ts'
import { LeftOut } from '../../schemas/answer-from.ts'
import { Receipt } from '../../schemas/receipt.ts'
import { advertiseTwice, describeOutput, type JsonSchema } from './advertised-schema.ts'
import { type CreditsPrice, errorsOfPrice, type Price, type X402Price } from './price.ts'
import { isObject } from '../lib/json.ts'
import type { AnyTool, DoorName, MessageForm, RestRoute, SkillCard, Sold } from './tool.ts'
import { derivedSkill, portableName } from './derived-skill.ts'
import { checkExamples, checkMembers, checkTool } from './tool-check.ts'
import type { CallerKind, CallerOf } from './caller.ts'
import type { Terms } from './charging.ts'
import type { CallContext } from './context.ts'
import type { CreditCharge } from './credit-charge.ts'

export type { AnyTool, DoorName, Effects, Plan, RestRoute, SkillCard, Sold, Toolset } from './tool.ts'
export { portableName } from './derived-skill.ts'

/** A tool as its client knows it: with the types of its input and output. */
export interface Tool<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> extends AnyTool {
  readonly input: I
  readonly output: O
}

const MAX_BODY_BYTES = 256 * 1024
const DOORS: readonly DoorName[] = ['rest', 'mcp', 'a2a']

interface Example<I extends z.ZodType, O extends z.ZodType> {
  readonly title: string
  readonly input: z.input<I>
  readonly output?: z.output<O>
}

/** The context of a handler: the services of whoever registers the tool, and its call with the caller that the tool asked for. */
export type HandlerContext<S, C extends CallerKind = CallerKind> = S & CallContext<CallerOf<C>>

/** The member that the price adds to the context: the charge that an attempt has to take, or the claim that pays. */
type Charged<P extends Price> =
  P extends CreditsPrice<'attempt' | 'allowance'>
    ? { readonly charge: CreditCharge }
    : P extends X402Price<'known' | 'planned', infer F>
      ? { readonly claimId: F extends undefined ? string : string | undefined }
      : unknown

/** The member that comes with the price is filled in by the call path: a handler leaves it out. */
type Answer<O extends z.ZodType, P extends Price> =
  P extends CreditsPrice<'call'>
    ? Omit<z.output<O>, 'credits' | 'receipt'>
    : P extends X402Price
      ? Omit<z.output<O>, 'receipt'>
      : z.output<O>

/** The `charge` of a plan: required where core knows no networks, absent where nothing is paid with x402. */
type ChargeOf<P extends Price> =
  P extends X402Price<infer N, infer F>
    ? N extends 'planned'
      ? { readonly charge: PlannedTerms | (F extends undefined ? never : null) }
      : { readonly charge?: Partial<Terms> }
    : { readonly charge?: never }
type PlannedTerms = Partial<Terms> & Pick<Terms, 'networks'>

type PlanOf<O extends z.ZodType, C extends CallerKind, P extends Price> = ChargeOf<P> & {
  run(context: CallContext<CallerOf<C>> & Charged<P>): Promise<Answer<O, P>>
}

/** `handle` where input and work are one step, `plan` where the input says what the call costs. */
type WorkOf<S, I extends z.ZodType, O extends z.ZodType, C extends CallerKind, P extends Price> =
  | {
      readonly handle?: never
      plan(input: z.output<I>, context: HandlerContext<S, C>): PlanOf<O, C, P> | Promise<PlanOf<O, C, P>>
    }
  | (P extends X402Price<'planned'>
      ? never
      : {
          readonly plan?: never
          handle(input: z.output<I>, context: HandlerContext<S, C> & Charged<P>): Promise<Answer<O, P>>
        })

/**
 * A tool as its file writes it.
 * @typeParam S services that its handler may reach
 * @typeParam C who may call it, which is the type of `context.caller`
 * @typeParam P what it costs, which says what its handler is given and what its answer leaves out
 */
export type ToolDefinition<
  S,
  I extends z.ZodType,
  O extends z.ZodType,
  C extends CallerKind,
  P extends Price,
> = Omit<
  AnyTool,
  | 'input'
  | 'output'
  | 'price'
  | 'priceUnder'
  | 'caller'
  | 'rest'
  | 'skills'
  | 'doors'
  | 'maxBodyBytes'
  | 'largestBody'
  | 'reply'
  | 'examples'
  | 'examplesAt'
  | 'inProduction'
  | 'repair'
  | 'inMessages'
  | 'readOn'
  | 'plan'
> & {
  readonly input: I
  readonly output: O
  readonly price: P
  priceUnder?(config: { readonly creditPriceAtomic: bigint }): P
  readonly caller: C
  readonly rest: RestRoute | readonly RestRoute[]
  readonly skill?: SkillCard | readonly SkillCard[]
  readonly doors?: readonly DoorName[]
  readonly maxBodyBytes?: number
  largestBody?(caller: CallerOf<C>, services: S): Promise<number>
  readonly reply?: 'task' | 'message'
  inProduction?(): { readonly examples?: readonly Example<I, O>[]; readonly sold?: readonly Sold[] }
  repair?(input: unknown, context: HandlerContext<S>): Record<string, unknown>
  readonly inMessages?: MessageForm<z.output<I>, z.output<O>>
  readOn?(input: z.output<I>, output: z.output<O>): ((next: number) => string) | undefined
} & (
    { readonly examples: readonly Example<I, O>[] } | { examplesAt(now: number): readonly Example<I, O>[] }
  ) &
  WorkOf<S, I, O, C, P>

/**
 * Fills the defaults in and checks what types cannot.
 * @returns a function that defines tools whose handlers reach the services S
 * @throws {Error} that says what to write instead
 */
export const toolDefiner =
  <S extends object>() =>
  <I extends z.ZodType, O extends z.ZodType, const C extends CallerKind, const P extends Price>(
    given: ToolDefinition<S, I, O, C, P>,
  ): Tool<I, O> => {
    checkMembers(given)
    const { skill, handle, plan, ...rest } = given
    const doors = given.doors ?? (given.passes ? ['rest'] : DOORS)
    // Those of a registry are of its time.
    const examples = 'examplesAt' in given ? given.examplesAt(0) : given.examples
    const derived = doors.includes('a2a') ? [derivedSkill({ ...given, examples })] : []
    const tool = {
      ...rest,
      output: withPriceMember(given.output, given.price),
      errors: [...new Set([...given.errors, ...errorsOfPrice(given.price)])],
      rest: listOf(given.rest),
      skills: skill === undefined ? derived : listOf(skill),
      doors,
      maxBodyBytes: given.maxBodyBytes ?? MAX_BODY_BYTES,
      reply: given.reply ?? (given.price.kind === 'free' ? 'message' : 'task'),
      examples,
      plan: planOf(given.name, handle, plan),
    } as unknown as Tool<I, O>
    checkTool(tool)
    return Object.freeze(tool)
  }

type Work = (input: never, context: never) => unknown

/** One form for the call path. A tool's file names its function after the tool, which stack traces and profiles then show. */
function planOf(name: string, handle: Work | undefined, plan: Work | undefined): Work {
  const work = plan ?? handle
  if (!work) throw new Error(`${name}: write \`handle\`, or \`plan\` where the input says what a call costs`)
  return plan ?? ((input: never) => ({ run: (context: never) => work(input, context) }))
}

/** `receipt` of what is paid, `credits` too of what the call path debits: documented without being written by hand. */
function withPriceMember(output: z.ZodType, price: Price): z.ZodType {
  if (!(output instanceof z.ZodObject)) return output
  if (price.kind === 'x402' && !('receipt' in output.shape))
    return output.extend({ receipt: Receipt.nullable() })
  if (price.kind === 'credits' && price.taken === 'call')
    return output.extend({ credits: CreditsCharged, receipt: Receipt.nullable() })
  return output
}

const listOf = <T>(one: T | readonly T[]): readonly T[] => (Array.isArray(one) ? one : [one as T])

export type { JsonSchema } from './advertised-schema.ts'

/** A tool with everything derived from it once, at start. */
export interface RegisteredTool {
  readonly tool: AnyTool
  readonly portableName: string
  /** JSON Schema 2020-12 of what a caller sends, as it is published (defaults optional, no aliases), and of what it gets. */
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  /** The same of what it gets over MCP and A2A. */
  readonly messageSchema: JsonSchema
  /** `inputSchema` in the few words that a list of tools has room for. */
  readonly listedSchema: JsonSchema
}

export interface Registry {
  readonly tools: readonly RegisteredTool[]
  /** The tool of this name, in either spelling. */
  find(name: string): RegisteredTool | undefined
}

export interface RegistryConfig {
  readonly creditPriceAtomic: bigint
  readonly mode?: 'sandbox' | 'production'
}

/**
 * @param config whose prices are said; without one those of the defaults
 * @param now milliseconds; when the process starts that shows the examples
 * @throws {Error} when an example is refused by its own tool, or when two tools share a name, a skill id, an operationId or a route
 */
export function createRegistry(tools: readonly AnyTool[], config?: RegistryConfig, now = 0): Registry {
  const registered = tools.map((tool) => {
    const outputSchema = describeOutput(tool.output)
    return {
      tool: toolUnder(tool, config, now),
      portableName: portableName(tool.name),
      ...advertiseTwice(tool.input),
      outputSchema,
      messageSchema: tool.inMessages
        ? describeOutput(tool.inMessages.output)
        : tool.readOn || tool.price.kind === 'x402'
          ? withLeftOut(outputSchema)
          : outputSchema,
    }
  })
  const byName = new Map<string, RegisteredTool>()
  const taken = new Set<string>()
  const claim = (what: string) => {
    if (taken.has(what)) throw new Error(`two tools claim ${what}`)
    taken.add(what)
  }
  for (const entry of registered) {
    const { tool } = entry
    checkExamples(tool)
    claim(`name ${entry.portableName}`)
    for (const route of tool.rest) {
      claim(`route ${route.method} ${route.path}`)
      claim(`operation ${route.operationId}`)
    }
    for (const skill of tool.skills) claim(`skill ${skill.id}`)
    byName.set(tool.name, entry).set(entry.portableName, entry)
  }
  return { tools: registered, find: (name) => byName.get(name) }
}

/** What may be cut in a message says there what was left out. */
const withLeftOut = (schema: JsonSchema): JsonSchema =>
  isObject(schema['properties'])
    ? { ...schema, properties: { ...schema['properties'], left_out: describeOutput(LeftOut) } }
    : schema

const toolUnder = (tool: AnyTool, config: RegistryConfig | undefined, now: number): AnyTool => ({
  ...tool,
  ...(tool.examplesAt && { examples: tool.examplesAt(now) }),
  ...(config && tool.priceUnder && { price: tool.priceUnder(config) }),
  ...(config?.mode === 'production' && tool.inProduction?.()),
})
