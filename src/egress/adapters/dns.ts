// Name resolution: one question for every address of a name, both families, all or nothing. A name that half
// resolves is refused, because the half that is missing might be the one that should have been looked at.
import type { RecordWithTtl } from 'node:dns'
import { lookup as systemLookup, Resolver as ServerResolver } from 'node:dns/promises'
import { startTimerAfterReading } from '../../lib/timer-after-reading.ts'
import { ResolveError, type Resolver } from '../ports.ts'
import { type Answer, cacheAnswers } from './dns-cache.ts'

const DEADLINE_MS = 5_000
const QUERY_TIMEOUT_MS = 2_000
const QUERY_TRIES = 2
/** The system's resolver tells no TTL and often keeps nothing itself, so its answers are kept this long. */
const SYSTEM_TTL_SECONDS = 5

/**
 * @param servers `ip` or `ip:port`; empty: the system's
 * @param queryMs after which a server that says nothing is asked once more; for tests
 */
export function createResolver(
  servers: readonly string[],
  /** Of a clock that nobody sets. */
  now: () => number = () => performance.now(),
  queryMs = QUERY_TIMEOUT_MS,
): Resolver {
  const { ask, recall } = cacheAnswers(servers.length === 0 ? askSystem : askServers(servers, queryMs), now)
  return {
    recall,
    async resolve(host, timeoutMs) {
      const addresses = await withDeadline(ask(host), timeoutMs)
      if (addresses.length === 0) throw new ResolveError('not_found')
      return addresses
    },
  }
}

/** Each family by a query of its own; CNAMEs are the server's to follow. */
function askServers(servers: readonly string[], queryMs: number): (host: string) => Promise<Answer> {
  const resolver = new ServerResolver({ timeout: queryMs, tries: QUERY_TRIES })
  resolver.setServers(servers)
  return async (host) => {
    const families = await Promise.all([
      orNothing(resolver.resolve4(host, { ttl: true })),
      orNothing(resolver.resolve6(host, { ttl: true })),
    ])
    const records = families.flat()
    return {
      addresses: records.map(({ address }) => address),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    }
  }
}

/** NODATA is an answer: the name exists and has no address of this family. */
async function orNothing(answer: Promise<RecordWithTtl[]>): Promise<RecordWithTtl[]> {
  try {
    return await answer
  } catch (thrown) {
    if (codeOf(thrown) === 'ENODATA') return []
    throw toResolveError(thrown)
  }
}

async function askSystem(host: string): Promise<Answer> {
  try {
    const answers = await systemLookup(host, { all: true, order: 'verbatim' })
    return { addresses: answers.map(({ address }) => address), ttlSeconds: SYSTEM_TTL_SECONDS }
  } catch (thrown) {
    throw toResolveError(thrown)
  }
}

const codeOf = (thrown: unknown) =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined

function toResolveError(thrown: unknown): ResolveError {
  const code = codeOf(thrown)
  if (code === 'ENOTFOUND' || code === 'ENODATA') return new ResolveError('not_found')
  if (code === 'ETIMEOUT' || code === 'ECANCELLED') return new ResolveError('timeout')
  return new ResolveError('server_failure')
}

function withDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new ResolveError('timeout'))
    const stopTimer = startTimerAfterReading(end, Math.min(timeoutMs, DEADLINE_MS))
    answer.then(resolve, reject).finally(stopTimer)
  })
}
