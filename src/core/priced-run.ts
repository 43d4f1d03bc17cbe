// Takes the price of a call around its run: each kind of price is executed here, whatever door the call came through.
//
//   free                      run, check
//   credits                   debit, run, check, store the receipt; given back when anything throws (debits.ts)
//   credits within attempt    run (which takes them in its attempt's transaction), check, was it taken?
//   x402                      claim, run, check, store, settle, release (the gate; src/payments)
import { hash } from 'node:crypto'
import { digestCanonical } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import type { CreditsRequired, PaidResult, PaymentGate, PresentedPayment, Terms } from './charging.ts'
import type { CallContext } from './context.ts'
import { createCreditCharge } from './credit-charge.ts'
import type { Debits } from './debits.ts'
import { GatewayError, gatewayFault } from './errors.ts'
import { paidIdempotencyKey } from './idempotency-key.ts'
import { checkOutput } from './output.ts'
import { requireMayPay } from './roles.ts'
import { paidProgress } from './progress.ts'
import { type CreditsPrice, creditWords, type X402Price } from './price.ts'
import type { AnyTool, Plan } from './tool.ts'

export interface PricedRunParts {
  readonly gate: PaymentGate
  readonly debits: Debits
  readonly creditsRequired: CreditsRequired
  /** Hides the names in a JSON pointer that must not be written to the log. */
  readonly hideNames: (pointer: string) => string
}

export interface PricedRun {
  readonly tool: AnyTool
  /** The input as the schema read it; frozen here where it is paid for, so that what runs is what was priced. */
  readonly input: unknown
  readonly plan: Plan
  readonly context: CallContext
  /** How this door names the tool to a buyer. */
  readonly resource: { readonly url: string; readonly method: string }
  readonly payment: PresentedPayment | undefined
  readonly quote: string | undefined
  /** The caller's idempotency key where it stands beside the input; not judged yet. */
  readonly idempotencyKey?: unknown
  /** Said before the run, once nothing but the price stands in its way. */
  readonly accept: () => void | Promise<void>
}

export interface RunResult {
  readonly output: unknown
  readonly paid?: PaidResult
  /** The price that was taken, for the log. */
  readonly price: string
  /** Credits that were taken, where any were. */
  readonly credits?: number
}

/** The signal of work that nobody can call off. */
export const neverGone = () => new AbortController().signal

/** Runs a planned call under its price: what was paid or debited is kept, taken or given back as the run ends. */
export function createPricedRun(parts: PricedRunParts): (run: PricedRun) => Promise<RunResult> {
  const { debits } = parts
  const check = (tool: AnyTool, output: unknown, extras?: GatewayError['extras']) =>
    checkOutput(tool, output, parts.hideNames, extras)

  return async (run) => {
    const { price } = run.tool
    switch (price.kind) {
      case 'free':
        return runFree(run)
      case 'credits':
        return price.taken === 'call' ? runOnCredits(run, price) : runWithinAttempt(run, price)
      case 'x402':
        return runPaid(run, price)
    }
  }

  async function runFree({ tool, plan, context, accept }: PricedRun): Promise<RunResult> {
    if (plan.charge) throw gatewayFault('the plan of a free tool names a charge: write `price: x402(…)`')
    await accept()
    return { output: check(tool, await plan.run(context)), price: 'free' }
  }

  /** A debit of its own, before anything is done; nothing done is nothing taken. */
  async function runOnCredits(run: PricedRun, { credits }: CreditsPrice): Promise<RunResult> {
    const { tool, plan, context, input, accept } = run
    const { caller, requestId } = context
    if (!('accountId' in caller))
      throw new GatewayError('key_required', 'Send a service key (agw_sk_…): its account pays for this.')
    requireMayPay(caller)
    const { accountId } = caller
    const requestDigest = digestOf(tool, input)
    await accept()
    const taken = await debits.take({
      accountId,
      credits,
      reference: `${tool.name} ${requestId}`,
      capabilityId: caller.kind === 'agent' ? caller.capability.id : undefined,
    })
    const { balance } = taken
    const words = creditWords(credits)
    if (!taken.ok)
      throw await parts.creditsRequired({
        accountId,
        balance,
        need: credits,
        what: `${tool.title} costs ${words}`,
      })
    try {
      // Whoever goes away pays all the same: else an account has its work begun, hangs up and is given its credits back.
      const made = await plan.run({ ...context, signal: neverGone })
      const charged = withMember(made, 'credits', { charged: credits, balance })
      const output = check(tool, withMember(charged, 'receipt', null))
      const receipt = await debits.settle(taken.debit, {
        tool: tool.name,
        requestDigest,
        resultSha256: hashResult(output),
      })
      return { output: withMember(output, 'receipt', receipt), price: words, credits }
    } catch (thrown) {
      await debits.giveBack(taken.debit)
      throw thrown
    }
  }

  async function runWithinAttempt(run: PricedRun, price: CreditsPrice): Promise<RunResult> {
    const { tool, plan, context, accept } = run
    await accept()
    let done = 0
    const charge = createCreditCharge(price, (message) => context.progress({ done: ++done, message }))
    const made = await plan.run({ ...context, charge })
    const missing = charge.findMissing()
    if (missing !== undefined) throw gatewayFault(missing)
    // The attempt was made and is on record, so what it cost stands: the caller is told where to look it up.
    const reference = charge.findReference()
    const extras = reference === undefined ? {} : { attempt_id: reference }
    const output = check(tool, made, extras)
    if (reference === undefined) return { output, price: 'free' }
    return { output, price: creditWords(price.credits), credits: price.credits }
  }

  async function runPaid(run: PricedRun, price: X402Price): Promise<RunResult> {
    const { tool, plan, context, input } = run
    if (plan.charge === null) {
      if (price.mayBeFree === undefined)
        throw gatewayFault('the plan names no charge: say which jobs are free in `x402({ mayBeFree })`')
      await run.accept()
      const made = await plan.run(context)
      return { output: check(tool, withMember(made, 'receipt', null)), price: 'free' }
    }
    requireMayPay(context.caller)
    const terms = termsOf(tool, price, plan.charge ?? {}, input)
    const idempotencyKey = paidIdempotencyKey(run.idempotencyKey)
    freezeDeep(input)
    const { verified, work, settling } = paidProgress(context.progress)
    const paid = await parts.gate.run({
      tool,
      terms,
      resource: run.resource,
      payment: run.payment,
      quote: run.quote,
      idempotencyKey,
      caller: context.caller,
      requestId: context.requestId,
      settling,
      async work(claimId) {
        await run.accept()
        verified()
        // A buyer that goes away changes nothing: the result is stored, and its payment fetches it.
        const made = await plan.run({ ...context, claimId, signal: neverGone, progress: work })
        return check(tool, withMember(made, 'receipt', null))
      },
    })
    return { output: paid.output, paid, price: settledPrice(paid) }
  }
}

/** @throws {GatewayError} internal where the charge is none that the price announces */
function termsOf(tool: AnyTool, price: X402Price, charge: Partial<Terms>, input: unknown): Terms {
  const amountAtomic = charge.amountAtomic ?? price.amountAtomic
  const networks = charge.networks ?? price.networks
  if (networks.length === 0) throw gatewayFault('the plan names no network: write `charge.networks`')
  const { upToAtomic } = price
  const isAnnounced =
    upToAtomic === undefined
      ? price.networksFrom === 'planned' || amountAtomic === price.amountAtomic
      : amountAtomic >= price.amountAtomic && amountAtomic <= upToAtomic
  if (!isAnnounced || amountAtomic <= 0n)
    throw gatewayFault(`the plan charges ${amountAtomic}, which the price does not announce: write \`upTo\``)
  return {
    ...charge,
    amountAtomic,
    networks,
    requestDigest: charge.requestDigest ?? digestOf(tool, input),
  }
}

/** @throws {GatewayError} input_invalid, or the tool's own code, where a text or a number of the input has no RFC 8785 form */
function digestOf({ name, invalidInput }: AnyTool, input: unknown): string {
  try {
    return digestCanonical({ tool: name, input: input ?? null })
  } catch (cause) {
    throw new GatewayError(
      invalidInput ?? 'input_invalid',
      'A payment is bound to its input, and this one has no canonical form (RFC 8785): a text holds half a surrogate pair, or ' +
        'a number is too large for a double.',
      { cause },
    )
  }
}

/** Adds the member that comes with the kind of price: the tool's own answer may leave it out. */
const withMember = (output: unknown, name: string, value: unknown): unknown =>
  isObject(output) ? { ...output, [name]: value } : output

/** Digest of what is answered, apart from the receipt that will hold it. */
function hashResult(output: unknown): string {
  if (!isObject(output)) throw new TypeError('the output of a priced tool is an object')
  const { receipt: _none, ...rest } = output
  return hash('sha256', JSON.stringify(rest), 'hex')
}

/** Plain data all the way down: a handler that changes what was priced fails instead. */
function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return
  Object.freeze(value)
  for (const member of Object.values(value)) freezeDeep(member)
}

const settledPrice = ({ replayed, settlement: { amount, network } }: PaidResult) =>
  replayed ? 'replayed' : `${amount} ${network}`
