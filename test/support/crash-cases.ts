// Every place in an attempt where the process may die, and what must be found afterwards. One engine sends fetches,
// permits and edge calls, so one table holds for all of them.
import { EGRESS_POINTS } from '../../src/lib/fault-points.ts'

export type EgressPoint = (typeof EGRESS_POINTS)[number]

export interface Expected {
  readonly state: 'none' | 'refunded' | 'ambiguous' | 'settled'
  /** Requests that the upstream may have seen. */
  readonly sent: readonly number[]
}
const nothing: Expected = { state: 'none', sent: [0] }
const refunded: Expected = { state: 'refunded', sent: [0] }
const unsent: Expected = { state: 'ambiguous', sent: [0] }
const unknown: Expected = { state: 'ambiguous', sent: [0, 1] }
const answered: Expected = { state: 'ambiguous', sent: [1] }
const settled: Expected = { state: 'settled', sent: [1] }

const EXPECTED: Readonly<Record<EgressPoint, Expected>> = {
  before_reserve: nothing,
  after_reserve: refunded,
  after_resolve: refunded,
  before_sending: refunded,
  after_sending: unsent,
  after_decrypt: unsent,
  before_connect: unsent,
  after_request: unknown,
  after_headers: answered,
  after_response: answered,
  before_finish: answered,
  after_finish: settled,
  before_reply: settled,
}
/** Where the name is remembered, the debit and `sending` are one commit. */
const REMEMBERED: Readonly<Partial<Record<EgressPoint, Expected>>> = {
  after_resolve: nothing,
  before_sending: nothing,
  after_reserve: unsent,
  after_sending: unsent,
  // The credential is remembered as well.
  after_decrypt: unsent,
}

export interface CrashCase {
  readonly point: EgressPoint
  readonly method: 'GET' | 'POST'
  /** Whether the name was asked for just before, by an attempt that went well. */
  readonly remembered: boolean
  readonly expected: Expected
}

export const crashCases = (
  methods: readonly ('GET' | 'POST')[],
  points: readonly EgressPoint[] = EGRESS_POINTS,
): readonly CrashCase[] =>
  points.flatMap((point) =>
    [false, true].flatMap((remembered) => {
      const expected = remembered ? REMEMBERED[point] : EXPECTED[point]
      return expected ? methods.map((method) => ({ point, method, remembered, expected })) : []
    }),
  )

export const labelOf = ({ point, method, remembered }: CrashCase) =>
  `${point}/${method}${remembered ? '/again' : ''}`

/** GATEWAY_FAULT of a case; where the name is remembered, the first attempt goes through. */
export const faultOf = ({ point, remembered }: CrashCase) => `${point}:kill${remembered ? ':2' : ''}`

export const isCharged = ({ expected: { state } }: CrashCase) => state === 'ambiguous' || state === 'settled'
