// A facilitator as it is measured: how long it judges and settles, and how that ends. Neither payer nor payee nor amount is told, and of
// facilitators elsewhere no address.
import type { Upstream, UpstreamRequest, UpstreamSettlement } from '../payments/ports.ts'
import { OTHER } from './labels.ts'
import { type OpenSpan, secondsSince, type Telemetry } from './port.ts'

const OUTCOMES: readonly UpstreamSettlement['state'][] = [
  'settled',
  'pending',
  'refused',
  'failed',
  'unknown',
]

/**
 * Counts settlements from 0 on: a rate does not have what a series begins with, so that without it the first of each kind is in none.
 * @param networks CAIP-2 names of those that payments are taken on
 */
export function beginSettlements(telemetry: Telemetry, networks: Iterable<string>): void {
  for (const network of networks)
    for (const outcome of OUTCOMES)
      telemetry.add('agent_gateway.settlements', 0, {
        'agent_gateway.network': network,
        'agent_gateway.outcome': outcome,
      })
}

/** @param toNetwork the CAIP-2 name of a network that payments are taken on, however it was written; undefined for any other */
export function observeUpstream(
  telemetry: Telemetry,
  upstream: Upstream,
  toNetwork: (network: string) => string | undefined,
): Upstream {
  const facilitator = upstream.url === null ? 'local' : 'remote'

  function begin(what: 'verify' | 'settle', { requirements }: UpstreamRequest) {
    const labels = {
      'agent_gateway.facilitator': facilitator,
      'agent_gateway.network': toNetwork(requirements.network) ?? OTHER,
    }
    const span = telemetry.tracing?.start({ name: `payment ${what}`, kind: 'client', labels })
    return { started: performance.now(), labels, span }
  }

  return {
    ...upstream,
    async verify(request) {
      const { started, labels, span } = begin('verify', request)
      let outcome = 'failed'
      try {
        const verdict = await within(span, () => upstream.verify(request))
        outcome = verdict.ok ? 'valid' : verdict.isRetryable ? 'failed' : 'invalid'
        return verdict
      } finally {
        telemetry.record('agent_gateway.payment.verify.duration', secondsSince(started), {
          ...labels,
          'agent_gateway.outcome': outcome,
        })
        finish(span, outcome, outcome === 'failed')
      }
    },
    async settle(request) {
      const { started, labels, span } = begin('settle', request)
      let outcome = 'failed'
      try {
        const settlement = await within(span, () => upstream.settle(request))
        outcome = settlement.state
        return settlement
      } finally {
        telemetry.add('agent_gateway.settlements', 1, {
          'agent_gateway.network': labels['agent_gateway.network'],
          'agent_gateway.outcome': outcome,
        })
        telemetry.record('agent_gateway.settlement.duration', secondsSince(started), {
          ...labels,
          'agent_gateway.outcome': outcome,
        })
        finish(span, outcome, outcome === 'failed' || outcome === 'unknown')
      }
    },
  }
}

const within = <T>(span: OpenSpan | undefined, work: () => T): T => (span ? span.run(work) : work())

function finish(span: OpenSpan | undefined, outcome: string, isFailure: boolean): void {
  span?.label({ 'agent_gateway.outcome': outcome })
  span?.end(isFailure ? outcome : undefined)
}
