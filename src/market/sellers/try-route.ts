// Tries a route with its own example, as a paid call would be put to the upstream and judged, without a payment and without a record.
import { randomUUID } from 'node:crypto'
import { judgeAnswer } from '../calls/answer.ts'
import { callUpstream, type UpstreamParts } from '../calls/upstream.ts'
import { exampleUrl } from '../listings/shape.ts'
import type { TryRoute } from './ports.ts'

/** As the network of a call that nobody pays. */
const UNPAID = 'unpaid:check'

/** The upstream knows the request by its signed header: its amount is 0 and its id begins with `check_`. */
export function createTryRoute(parts: UpstreamParts): TryRoute {
  return async ({ sellerId, accountId, document, route }) => {
    const startedAt = parts.now()
    const { body } = route.example ?? {}
    const version = { version: 0, document }
    const result = await callUpstream(parts, {
      sold: {
        sellerId,
        serviceId: 'check',
        accountId,
        payoutAddress: null,
        payoutMode: 'batched_onchain',
        state: 'draft',
        stateReason: null,
        isProven: true,
        current: version,
        earlier: [],
        fees: [{ bps: 0, fixedAtomic: 0, minimumAtomic: 0 }],
      },
      version,
      route,
      target: exampleUrl(route, `${document.basePath}/`),
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      claimId: `check_${randomUUID()}`,
      network: UNPAID,
      amountAtomic: 0n,
      payer: 'check',
    })
    const durationMs = Math.max(0, Math.round(parts.now() - startedAt))
    if (!result.ok) {
      const { message, reason } = result.error
      return {
        ok: false,
        status: null,
        durationMs,
        problem: `${withoutPayment(message)} (${reason ?? result.error.code})`,
      }
    }
    const verdict = judgeAnswer(route, result.answer)
    const { status } = result.answer
    return verdict.ok
      ? { ok: true, status, durationMs, problem: null }
      : { ok: false, status, durationMs, problem: `The upstream ${verdict.words} (${verdict.reason}).` }
  }
}

/** The words are a buyer's; a seller has paid nothing. */
const withoutPayment = (words: string) => words.replace(/ ?Nothing was charged[^.]*\./, '')
