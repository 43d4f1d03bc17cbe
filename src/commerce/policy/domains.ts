// Hosts that a transaction names, where one is of another registrable domain than the target: not a neighbour, somebody else.
import { getDomain } from 'tldts'
import { readHostName } from '../bindings/compare.ts'
import { readAp2 } from '../protocols/ap2.ts'
import { readHttp } from '../protocols/http.ts'
import { readMpp } from '../protocols/mpp.ts'
import { readX402 } from '../protocols/x402.ts'
import type { Found } from '../ports.ts'
import type { Rule, Subject } from './model.ts'
import { isArguable } from './bindings.ts'
import { reason } from './reasons.ts'

export const judgeDomains: Rule = (subject) => {
  const target = subject.message.target.url
  if (target === undefined) return []
  const named = listNamed(subject)
  return subject.bindings.flatMap((binding) => {
    const { kind, verdict, at } = binding
    if (kind !== 'host' || verdict !== 'mismatch') return []
    const severity = isArguable(binding, subject) ? 'review' : 'deny'
    const other = named.find((one) => one.at === at)
    const host = other && readHostName(other.value, target.protocol)
    return host !== undefined && isSameDomain(host, target.host)
      ? []
      : [reason('DOMAIN_MISMATCH', at, { severity })]
  })
}

function listNamed({ message, detection }: Subject): Found<string>[] {
  const { host } = readHttp(message)
  const named = detection.layers.flatMap((layer) => {
    if (layer.name === 'x402') {
      const { resource, accepts } = readX402(layer, message)
      return [resource, ...accepts.map((one) => one.resource)]
    }
    if (layer.name === 'mpp') return readMpp(layer, message).challenges.map(({ realm }) => realm)
    return layer.name === 'ap2' ? [readAp2(layer, message).closed?.aud ?? null] : []
  })
  return [host, ...named].filter((one) => one !== null)
}

function isSameDomain(one: string, other: string): boolean {
  const [a, b] = [domainOf(one), domainOf(other)]
  return a !== null && a === b
}

/** Names under a reserved suffix have none of their own: their last two labels stand for it. */
const domainOf = (host: string): string | null => getDomain(host, { allowPrivateDomains: true })
