// What the registry says of a tool, as plain JSON for pages: the catalogue's row of it, and everything on its own page.
import { formatAtomic } from '../../../schemas/money.ts'
import { PER_MINUTE } from '../../core/call.ts'
import type { CallerKind } from '../../core/caller.ts'
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import { errorsOfPrice, isAlwaysPaid, isPaid, type Price } from '../../core/price.ts'
import type { RegisteredTool } from '../../core/registry.ts'
import { type Effects, type Toolset, USUAL_DURATION_MS } from '../../core/tool.ts'
import { HELP } from '../../documents/problems.ts'
import { priceWords, WHO } from '../../documents/protocols.ts'
import { sampleOf } from '../../documents/sample.ts'
import type { PriceFacts } from './components/price.tsx'
import type { SiteParts } from './ports.ts'

/** A tool in a list. */
export interface ToolRow {
  readonly name: string
  readonly portable_name: string
  readonly title: string
  readonly toolset: Toolset
  readonly caller: CallerKind
  readonly price: PriceFacts
  readonly doors: readonly string[]
  /** How its summary begins. */
  readonly summary: string
}

export interface ErrorFacts {
  readonly code: ErrorCode
  readonly status: number
  readonly title: string
  readonly what_to_do: string
  /** Comes of the price alone: what does not pay does not meet it. */
  readonly is_of_payment: boolean
}

export interface ToolFacts extends Omit<ToolRow, 'summary'> {
  readonly summary: string
  readonly caller_words: string
  /** Sentences of the summary that say what it does not do. */
  readonly limitations: readonly string[]
  readonly effects: Effects
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  readonly skills: readonly SkillFacts[]
  readonly limits: {
    readonly max_body_bytes: number
    readonly max_duration_ms: number
    /** Calls a minute: of one address without a token, and of one token; null where the operator took the limit away. */
    readonly per_minute: { readonly address: number | null; readonly token: number | null }
  }
  readonly examples: readonly { readonly title: string; readonly input: unknown }[]
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly output_schema: Readonly<Record<string, unknown>>
  /** An answer as its schema promises it; the values are made up. */
  readonly sample_output: unknown
  readonly errors: readonly ErrorFacts[]
  /** Every call is paid for, or some of them are, with x402. */
  readonly is_paid: boolean
  readonly is_always_paid: boolean
}

interface SkillFacts {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly examples: readonly string[]
  readonly price: PriceFacts
}

/** The price of a tool in the form for pages. */
export function priceFacts(price: Price): PriceFacts {
  const words = priceWords(price)
  if (price.kind === 'free') return { kind: 'free', words }
  if (price.kind === 'credits')
    return {
      kind: 'credits',
      words,
      credits: price.credits,
      ...(price.taken === 'allowance' && { after_allowance: true }),
    }
  return {
    kind: 'x402',
    words,
    amount: formatAtomic(price.amountAtomic),
    currency: 'USDC',
    ...(price.upToAtomic !== undefined && { up_to: formatAtomic(price.upToAtomic) }),
    ...(price.mayBeFree !== undefined && { may_be_free: price.mayBeFree }),
    ...(price.setBy !== undefined && { set_by: price.setBy }),
  }
}

/** The row of a tool in the catalogue. */
export const toolRow = ({ tool, portableName }: RegisteredTool): ToolRow => ({
  name: tool.name,
  portable_name: portableName,
  title: tool.title,
  toolset: tool.toolset,
  caller: tool.caller,
  price: priceFacts(tool.price),
  doors: tool.doors,
  summary: beginningOf(tool.brief ?? tool.summary),
})

/** Everything that the page of a tool says. */
export function toolFacts(entry: RegisteredTool, { config }: Pick<SiteParts, 'config'>): ToolFacts {
  const { tool, inputSchema, outputSchema } = entry
  const ofPrice = new Set(errorsOfPrice(tool.price))
  const rateOf = (usual: number) => (config.rateLimit === 0 ? null : (config.rateLimit ?? usual))
  return {
    ...toolRow(entry),
    summary: tool.summary,
    caller_words: WHO[tool.caller],
    limitations: limitationsOf(tool.summary),
    effects: tool.effects,
    routes: tool.rest.map(({ method, path }) => ({ method, path })),
    skills: tool.skills.map(({ id, name, description, examples, price }) => ({
      id,
      name: name ?? tool.title,
      description: description ?? tool.summary,
      examples,
      price: priceFacts(price ?? tool.price),
    })),
    limits: {
      max_body_bytes: tool.maxBodyBytes,
      max_duration_ms: tool.maxDurationMs ?? USUAL_DURATION_MS,
      per_minute: { address: rateOf(PER_MINUTE.anonymous), token: rateOf(PER_MINUTE.known) },
    },
    examples: tool.examples.map(({ title, input }) => ({ title, input })),
    input_schema: inputSchema,
    output_schema: outputSchema,
    sample_output: tool.examples.find(({ output }) => output !== undefined)?.output ?? sampleOf(outputSchema),
    errors: tool.errors.map((code) => errorFacts(code, ofPrice)).toSorted((a, b) => a.status - b.status),
    is_paid: isPaid(tool),
    is_always_paid: isAlwaysPaid(tool),
  }
}

/** Of tools whose plan takes the payment itself. */
const PAYMENT_CODES = /^(?:quote_invalid|no_route|settlement_)/

/** What a code means and what to do about it. */
const errorFacts = (code: ErrorCode, ofPrice: ReadonlySet<ErrorCode>): ErrorFacts => ({
  code,
  status: ERRORS[code].status,
  title: ERRORS[code].title,
  what_to_do: HELP[code],
  is_of_payment: ofPrice.has(code) || PAYMENT_CODES.test(code),
})

/** The sentences of a text of ours: each begins with a capital letter or with code. */
export const sentencesOf = (text: string): readonly string[] => text.split(/(?<=\.)\s+(?=[A-Z`{])/)

/** The beginning of a text: one sentence, or as many as say something. */
export function beginningOf(text: string): string {
  const sentences = sentencesOf(text)
  const enough = sentences.findIndex(
    (_, at) => sentences.slice(0, at + 1).join(' ').length >= LEAST_BEGINNING,
  )
  return sentences.slice(0, enough + 1).join(' ') || text
}

const LEAST_BEGINNING = 40
/** A longer one tells what a tool does. */
const MAX_LIMITATION = 200

/** The sentences that say what a tool does not do, or needs first: a summary always says so, because a model decides by it. */
export const limitationsOf = (summary: string): readonly string[] =>
  sentencesOf(summary)
    .slice(1)
    .filter((sentence) => sentence.length < MAX_LIMITATION && !sentence.startsWith('No account'))
    .filter((sentence) =>
      /\b(?:no|not|never|nothing|none|only|without|refuse[sd]?|untrusted)\b/i.test(sentence),
    )
