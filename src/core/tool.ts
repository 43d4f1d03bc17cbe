// A tool as the gateway runs it: one value from which every door, document and client command is derived. Types only; files
// write it through registry.ts, which fills the defaults in.
import type { z } from 'zod'
import type { Caller, CallerKind } from './caller.ts'
import type { Role } from '../../schemas/role.ts'
import type { Terms } from './charging.ts'
import type { CallContext, DoorName } from './context.ts'
import type { CreditCharge } from './credit-charge.ts'
import type { ErrorCode } from './errors.ts'
import type { Price } from './price.ts'

export type { DoorName } from './context.ts'

/** Groups of tools that a client may ask for by name; `operator` holds what only a service key may call. */
export const TOOLSETS = ['web', 'payments', 'egress', 'commerce', 'email', 'market', 'operator'] as const
export type Toolset = (typeof TOOLSETS)[number]

/** A call takes no longer, unless its tool says so. */
export const USUAL_DURATION_MS = 30_000

export interface RestRoute {
  readonly method: 'GET' | 'POST'
  /** OpenAPI style; `{name}` is filled into the input property of that name. */
  readonly path: string
  readonly operationId: string
  /** Status of success; 200 unless something was created. */
  readonly status?: 200 | 201
  /** The answer is the same for everybody and changes seldom: it has an `ETag`, and 304 says that it is still the same. */
  readonly isValidated?: boolean
  /** Members that this route sets, e.g. `{testnet: true}`; a caller may repeat but not change them. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /**
   * What is sent here is not the tool's input but an HTTP message, and the answer is what the tool passes on of another: served by a door of
   * its own, by further methods too.
   */
  readonly isRaw?: boolean
}

export interface SkillCard {
  readonly id: string
  readonly name?: string
  readonly description?: string
  readonly tags: readonly string[]
  /** Sentences a person would say. */
  readonly examples: readonly string[]
  /** The price of this skill where the skills of one tool cost differently; otherwise the tool's price holds. */
  readonly price?: Price
}

/** One thing that is sold at an address which sells several. */
export interface Sold {
  readonly name: string
  readonly amountAtomic: bigint
  readonly description: string
  readonly tags: readonly string[]
  /** A request that is answered with this price. */
  readonly input: Readonly<Record<string, unknown>>
}

export interface Effects {
  readonly readOnly: boolean
  readonly destructive?: boolean
  readonly idempotent: boolean
  readonly openWorld: boolean
}

/** The answer of a tool in the form for models. */
export interface MessageForm<I = unknown, O = unknown> {
  readonly output: z.ZodType
  from(output: O, input: I): unknown
}

/** A tool as the gateway runs it. Its types were checked where it was defined; from here on, values are what its schemas say. */
export interface AnyTool {
  /** Dotted name; the portable spelling with underscores is derived. */
  readonly name: string
  readonly title: string
  /** The group it is listed with where a client wants a part of the tools only. */
  readonly toolset: Toolset
  /** A model decides by it whether to call the tool: what it does, what it needs, what it never does. */
  readonly summary: string
  /** Said in its place where tools are listed for a model, which reads every list whole: what it needs to decide and to call right. */
  readonly brief?: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly price: Price
  /** The price where the operator's configuration decides it; `price` is that of the defaults. */
  priceUnder?(config: { readonly creditPriceAtomic: bigint }): Price
  readonly caller: CallerKind
  readonly effects: Effects
  /** Roles that may call it besides owners, where they are not those that follow from `caller` and `effects` (roles.ts). */
  readonly roles?: readonly Role[]
  /** Web pages of other origins may call it, though it changes something for whoever sends a token. */
  readonly isOpenToPages?: boolean
  /** It cannot be taken back: a person who calls it shows again that it is them. */
  readonly needsFreshSignIn?: boolean
  /** It gives authority that would outlast a connection, or decides for people: no assistant calls it, whatever it was allowed. */
  readonly isForPeople?: boolean
  /** The first one is its address in documents. */
  readonly rest: readonly [RestRoute, ...RestRoute[]]
  readonly skills: readonly SkillCard[]
  /** Doors that serve it; all three unless it passes HTTP messages on. */
  readonly doors: readonly DoorName[]
  /** Codes that the caller should plan for, beyond those that every call can end in. */
  readonly errors: readonly ErrorCode[]
  /** Input that works when sent unchanged (placeholders only where a token or an id must stand). */
  readonly examples: readonly {
    readonly title: string
    readonly input: unknown
    readonly output?: unknown
  }[]
  /**
   * `examples` that name a time, as they are right for a process that starts at `now` (milliseconds): one that is written
   * down is over some day.
   */
  examplesAt?(now: number): AnyTool['examples']
  /** Entries that catalogues list in place of the tool, in the order of the list. */
  readonly sold?: readonly Sold[]
  /** The members that differ in production, where there is no sandbox with a site of its own. */
  inProduction?(): Partial<Pick<AnyTool, 'examples' | 'sold'>>
  /** Largest request body in bytes; 256 KiB unless the specification says less. */
  readonly maxBodyBytes: number
  /**
   * Larger bodies than that, by who sends them: asked before such a body is read, and never of a caller that nobody knows. Over REST,
   * where the caller and the length are in the head of the request.
   */
  largestBody?(caller: Caller, services: object): Promise<number>
  /** Longest time that a call may take where it is more than {@link USUAL_DURATION_MS}. A payment has to be good for so long. */
  readonly maxDurationMs?: number
  /** The one code of every 400 that the input itself is refused with, where callers are told to expect one. */
  readonly invalidInput?: ErrorCode
  /**
   * How A2A answers: a Message that leaves nothing behind, or a Task, which is stored with its input and output for a day. What is
   * charged for is a Task unless said otherwise, because its result is worth coming back for; everything else is a Message. A tool
   * that is a Task takes no secret and shows none.
   */
  readonly reply: 'task' | 'message'
  /**
   * The HTTP message itself is what it takes and gives, at a door of its own: `rest` says where, its input is in the path, and
   * its output is the answer. Described like every other route, served by none of the others' means.
   */
  readonly passes?: 'message'
  /** Makes `repair` of the refusal, a request that works, from an input that does not match the schema. */
  repair?(input: unknown, context: CallContext): Record<string, unknown>
  /**
   * What MCP and A2A answer in place of `output`, where a model is served better with less than a program is. REST keeps the whole,
   * and the words in here are ours alone.
   */
  readonly inMessages?: MessageForm
  /**
   * Says how an answer that is too long for one message is read on, from a position; undefined where it cannot be, and is then not cut.
   * What was paid for with x402 is read on by its claim, whatever this says.
   */
  readOn?(input: unknown, output: unknown): ((next: number) => string) | undefined
  /** Words that, without anything beside them, are a request for this tool; they are then its input `intent`. */
  understands?(words: string): boolean
  /**
   * Understands the input, once: what it prices is what runs. Runs after the input is checked and before anything is asked of
   * the buyer, so a bad request is refused without a price.
   */
  plan(input: unknown, context: CallContext): Plan | Promise<Plan>
}

/** One call, understood: what it costs, and the work. */
export interface Plan {
  /** The cost of this job of a tool with an x402 price; undefined: what the price says; null: this job is free. */
  readonly charge?: Partial<Terms> | null
  run(context: CallContext & { readonly charge?: CreditCharge }): Promise<unknown>
}
