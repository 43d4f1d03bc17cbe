// Hosts that a transaction names, where one is of another registrable domain than the target: not a neighbour, somebody else.
import { parse } from 'tldts'
import { readHostName } from '../compare.ts'
import type { Found } from '../ports.ts'
import type { Rule, Subject } from './model.ts'
import { isArguable } from './bindings.ts'
import { reason } from './reasons.ts'
import { judgeHost } from './target.ts'

/** Host bindings that mismatch, where the other host belongs to another owner or to nobody known. */
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
    if (host === undefined) return [reason('DOMAIN_MISMATCH', at, { severity })]
    const relation = relateHosts(host, target.host)
    return relation === 'same_owner'
      ? []
      : [reason('DOMAIN_MISMATCH', at, { severity, ...(relation === 'unknown' && { isGuess: true }) })]
  })
}

const listNamed = ({ http, spoken }: Subject): Found<string>[] =>
  [http.host, ...spoken.flatMap((one) => one.protocol.policy.listHosts?.(one) ?? [])].filter(
    (one) => one !== null,
  )

/**
 * Owner of a host, compared with the target's. Unknown: the host has no name in public, or one that a provider gave it
 * (`*.cloudfront.net`, `*.run.app`), while the target has a domain of its own: servers behind a proxy call themselves by either.
 * @param host with or without a port, as the target
 */
export function relateHosts(host: string, target: string): 'same_owner' | 'unknown' | 'other_owner' {
  const [one, other] = [parse(host, OPTIONS), parse(target, OPTIONS)]
  if (one.hostname === other.hostname || (one.domain !== null && one.domain === other.domain))
    return 'same_owner'
  const isNameless =
    one.hostname !== null &&
    judgeHost(one.isIp === true && one.hostname.includes(':') ? `[${one.hostname}]` : one.hostname)
      ?.severity === 'deny'
  return isNameless || (one.isPrivate === true && other.isPrivate !== true) ? 'unknown' : 'other_owner'
}

/** Names under a reserved suffix have none of their own: their last two labels stand for it. */
const OPTIONS = { allowPrivateDomains: true }
