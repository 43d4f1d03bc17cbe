// Finds where mail for a domain goes (RFC 5321, 5.1; RFC 7505), as far as DNS tells. A route that is not sure is `unknown`,
// never a no. One question per name at a time, however many want to know; what was learned holds for its TTL.
import { isIP } from 'node:net'
import type { AddressPolicy } from '../egress/address.ts'
import { isLocalName } from '../egress/target.ts'
import { createMemory, type Memory } from './cache.ts'
import type { DnsAnswer, MailDns, MailRoute, MailTimes } from './ports.ts'
import { sendsNoMail } from './spf.ts'

export interface MailRoutes {
  /** Answers without asking anybody; `ttlSeconds` is what is left of the answer's life. */
  recall(domain: string): MailRoute | undefined
  /** @param domain lower-case A-labels without a trailing dot; never throws */
  find(domain: string): Promise<MailRoute>
}

export interface RouteParts {
  readonly dns: MailDns
  readonly addresses: AddressPolicy
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly elapsedMs: () => number
  readonly times?: Partial<Pick<MailTimes, 'nameMs' | 'spfMs'>> | undefined
}

const NAME_MS = 2_000
const SPF_MS = 600
const MAX_POSITIVE_SECONDS = 300
const MAX_NEGATIVE_SECONDS = 60
const MAX_REMEMBERED = 20_000
/** A domain with more mail hosts than this, none of them reachable, is not looked at to the end. */
const MAX_HOSTS = 10

type MailHost = { readonly host: string; readonly priority: number }

/** Whether any address of a host is on the public internet. */
type Reach =
  | { readonly is: 'public'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  | { readonly is: 'private' | 'nowhere'; readonly ttlSeconds: number }
  | { readonly is: 'unknown'; readonly reason: 'timeout' | 'failure' }

/** Routes are learned from DNS once at a time for each name, and remembered for at most five minutes. */
export function createMailRoutes(parts: RouteParts): MailRoutes {
  const { dns, addresses: policy, now } = parts
  const { nameMs = NAME_MS, spfMs = SPF_MS } = parts.times ?? {}
  const clock = { elapsedMs: parts.elapsedMs, nameMs }
  const routes = createMemory<MailRoute & { ttlSeconds: number }>({ maxEntries: MAX_REMEMBERED, now })
  const reaches = createMemory<Reach & { ttlSeconds: number }>({ maxEntries: MAX_REMEMBERED, now })

  const isPublic = (address: string) => policy.classify(address).ok

  const reachOf = singleFlight(reaches, clock, async (host: string, timeLeftMs): Promise<Reach> => {
    const v4 = await dns.addresses(host, 4, timeLeftMs())
    const found4 = v4.status === 'found' ? v4.records.filter(isPublic) : []
    if (v4.status === 'found' && found4.length > 0)
      return { is: 'public', addresses: found4, ttlSeconds: positive(v4) }
    if (v4.status === 'no_name') return { is: 'nowhere', ttlSeconds: negative(v4) }
    const v6 = await dns.addresses(host, 6, timeLeftMs())
    const found6 = v6.status === 'found' ? v6.records.filter(isPublic) : []
    if (v6.status === 'found' && found6.length > 0)
      return { is: 'public', addresses: found6, ttlSeconds: positive(v6) }
    if (v4.status === 'failed') return { is: 'unknown', reason: v4.reason }
    if (v6.status === 'failed') return { is: 'unknown', reason: v6.reason }
    const hasAny = v4.status === 'found' || v6.status === 'found'
    return { is: hasAny ? 'private' : 'nowhere', ttlSeconds: Math.min(negative(v4), negative(v6)) }
  })

  const routeOf = singleFlight(routes, clock, async (domain: string, timeLeftMs): Promise<MailRoute> => {
    const mx = await dns.mx(domain, timeLeftMs())
    if (mx.status === 'failed') return { status: 'unknown', reason: mx.reason }
    if (mx.status === 'no_name') return { status: 'no_domain', ttlSeconds: negative(mx) }
    if (mx.status !== 'found') {
      const [reach, spf] = await Promise.all([
        reachOf(domain),
        dns.txt(domain, Math.min(timeLeftMs(), spfMs)),
      ])
      return toImplicit(reach, spf, negative(mx))
    }
    const real = mx.records.filter(({ exchange }) => exchange !== '')
    // RFC 7505, 3: a null record beside others is a mistake, and the others count.
    if (real.length === 0) return { status: 'null_mx', ttlSeconds: positive(mx) }
    return throughHosts(sortHosts(real), positive(mx))
  })

  /** The best host that is on the internet decides; the others are asked only where it is not. */
  async function throughHosts(hosts: readonly MailHost[], ttlSeconds: number): Promise<MailRoute> {
    const [best, ...others] = hosts.filter(({ host }) => !isNoTarget(host))
    if (!best) return { status: 'unreachable', hosts, ttlSeconds: Math.min(ttlSeconds, MAX_NEGATIVE_SECONDS) }
    const first = await reachOf(best.host)
    if (first.is === 'public')
      return { status: 'mx', hosts, ttlSeconds: Math.min(ttlSeconds, first.ttlSeconds) }
    const rest = others.slice(0, MAX_HOSTS - 1)
    const reached = [first, ...(await Promise.all(rest.map(({ host }) => reachOf(host))))]
    const found = reached.find((reach) => reach.is === 'public')
    if (found) return { status: 'mx', hosts, ttlSeconds: Math.min(ttlSeconds, found.ttlSeconds) }
    const unknown = reached.find((reach) => reach.is === 'unknown')
    if (unknown) return { status: 'unknown', reason: unknown.reason }
    if (rest.length < others.length) return { status: 'unknown', reason: 'failure' }
    const times = reached.flatMap((reach) => (reach.is === 'unknown' ? [] : reach.ttlSeconds))
    return { status: 'unreachable', hosts, ttlSeconds: Math.min(ttlSeconds, ...times) }
  }

  return {
    recall(domain) {
      const known = routes.recall(domain)
      return known && { ...known.value, ttlSeconds: known.secondsLeft }
    },
    find: routeOf,
  }
}

function toImplicit(reach: Reach, spf: DnsAnswer<string>, noMxSeconds: number): MailRoute {
  if (reach.is === 'unknown') return { status: 'unknown', reason: reach.reason }
  // It holds no longer than that there is no MX record.
  const ttlSeconds = Math.min(reach.ttlSeconds, noMxSeconds)
  if (reach.is === 'public')
    return {
      status: 'implicit',
      addresses: reach.addresses,
      sendsNoMail: spf.status === 'found' && sendsNoMail(spf.records),
      ttlSeconds,
    }
  return reach.is === 'private'
    ? { status: 'unreachable', hosts: [], ttlSeconds }
    : { status: 'no_route', ttlSeconds }
}

/**
 * @param learn has a deadline of its own, since others may wait for the same
 * @returns what is remembered, what somebody is asking already, or a new answer
 */
function singleFlight<T extends object>(
  memory: Memory<T & { ttlSeconds: number }>,
  { elapsedMs, nameMs }: Pick<RouteParts, 'elapsedMs'> & Pick<MailTimes, 'nameMs'>,
  learn: (name: string, timeLeftMs: () => number) => Promise<T>,
): (name: string) => Promise<T> {
  const running = new Map<string, Promise<T>>()
  async function ask(name: string): Promise<T> {
    const deadline = elapsedMs() + nameMs
    const answer = await learn(name, () => deadline - elapsedMs())
    if (hasTtl(answer)) memory.keep(name, answer, answer.ttlSeconds)
    return answer
  }
  return async (name) => {
    const known = memory.recall(name)
    if (known) return { ...known.value, ttlSeconds: known.secondsLeft }
    let answer = running.get(name)
    if (!answer) {
      answer = ask(name).finally(() => running.delete(name))
      running.set(name, answer)
    }
    return answer
  }
}

const hasTtl = <T extends object>(value: T): value is T & { ttlSeconds: number } => 'ttlSeconds' in value

function sortHosts(records: readonly { exchange: string; priority: number }[]): MailHost[] {
  const seen = new Set<string>()
  return records
    .map(({ exchange, priority }) => ({ host: exchange, priority }))
    .sort((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : 1))
    .filter(({ host }) => !seen.has(host) && seen.add(host))
}

/** An address where a name must be (RFC 5321, 5.1), or a name that never leaves a network. */
const isNoTarget = (host: string) => isIP(host) !== 0 || isLocalName(host)

const positive = ({ ttlSeconds }: { ttlSeconds: number }) => Math.min(ttlSeconds, MAX_POSITIVE_SECONDS)

function negative<T>(answer: DnsAnswer<T>): number {
  return answer.status === 'failed' ? 0 : Math.min(answer.ttlSeconds, MAX_NEGATIVE_SECONDS)
}
