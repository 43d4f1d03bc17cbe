// How much a challenge says beside the ways to pay: everything that its place has room for. Ways to pay are never left out, and
// the challenge's own random part neither; first the schemas become short, then signed offers go, and what catalogues read goes last.
import type { PaidCall } from '../core/charging.ts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { bazaarOutlines, bazaarVariants } from './bazaar.ts'
import { IDENTIFIER_EXTENSION, IDENTIFIER_IN_SHORT, PAYMENT_IDENTIFIER } from './extensions.ts'
import { maxRequiredBytes } from './head-size.ts'

/** The bound of doors without headers: a stock client sends most of a challenge back, and a payment has its own bound. */
const MAX_REQUIRED_BYTES = 4000
/** Deepest nesting that a payment may have: the echo of an extension is as deep in it as in the challenge. */
const MAX_DEPTH = 15

export interface Wording {
  /** Extensions as advertised, without what is signed. */
  readonly extensions: Readonly<Record<string, unknown>>
  /** Count of the ways to pay, from the first, that have a signed offer. */
  readonly offered: number
  /** Schemas of extensions are cut to their kind. */
  readonly isTerse: boolean
}

/** The least that can be said: the identifier and the challenge itself. */
export const barest: Wording = {
  extensions: { [PAYMENT_IDENTIFIER]: IDENTIFIER_IN_SHORT },
  offered: 0,
  isTerse: true,
}

/** Whether the challenge goes into a header; other doors write it into a message. */
export const isHttp = ({ resource }: Pick<PaidCall, 'resource'>): boolean => /^https?:/.test(resource.url)

/** @param ways how many ways to pay there are */
export function chooseWording(
  call: Pick<PaidCall, 'tool' | 'terms' | 'resource'>,
  ways: number,
  worded: (wording: Wording) => PaymentRequired,
): Wording {
  const max = isHttp(call)
    ? maxRequiredBytes({ isQuoted: call.terms.quote !== undefined })
    : MAX_REQUIRED_BYTES
  for (const wording of wordings(call, ways)) {
    const required = worded(wording)
    if (depthOf(required) <= MAX_DEPTH && Buffer.byteLength(JSON.stringify(required)) <= max) return wording
  }
  return barest
}

/** Yields every wording, the most telling one first. */
function* wordings(call: Pick<PaidCall, 'tool' | 'terms' | 'resource'>, ways: number): Generator<Wording> {
  const own = call.terms.shown?.extensions
  const full = { [PAYMENT_IDENTIFIER]: IDENTIFIER_EXTENSION, ...own }
  const terse = { [PAYMENT_IDENTIFIER]: IDENTIFIER_IN_SHORT, ...own }
  for (const bazaar of bazaarVariants(call)) {
    yield { extensions: { bazaar, ...full }, offered: ways, isTerse: false }
    // A schema of a service says more than how extensions are written, which the protocol itself says.
    if (own) yield { extensions: { bazaar, ...terse }, offered: ways, isTerse: true }
  }
  const outlines = bazaarOutlines(call)
  for (let offered = ways; offered >= 0; offered--)
    for (const bazaar of outlines) yield { extensions: { bazaar, ...terse }, offered, isTerse: true }
  for (let offered = ways; offered >= 0; offered--) yield { extensions: terse, offered, isTerse: true }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
