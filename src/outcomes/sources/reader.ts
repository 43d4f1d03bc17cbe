// Reads one public address through the gateway's safe outbound path, or says why it cannot.
import type { OutboundResponse, Sender } from '../../egress/ports.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { parseTarget, type TargetOptions } from '../../egress/target.ts'
import { headerOf, sendPublic } from '../../outbound/public-request.ts'
import type { Targets } from '../../outbound/targets.ts'
import type { SourceReader } from '../ports.ts'
import { ACCEPT, MAX_BYTES, PARTITION, userAgentOf } from './accept.ts'
import { toFailure } from './address.ts'
import { conditionsOf, freshen, readAnswer, toSource } from './answer.ts'
import { type CachedAnswer, createSourceCache, isFresh } from './cache.ts'
import { failure, fromObstacle, fromSend, fromStatus } from './failure.ts'
import { readRedirect } from './redirect.ts'
import { createSingleFlight } from './single-flight.ts'

export interface ReaderParts {
  readonly targets: Pick<Targets, 'inspect'>
  readonly sender: Pick<Sender, 'send'>
  readonly rules: TargetOptions
  readonly now: () => number
  /** The page that the User-Agent names. */
  readonly about?: string | undefined
}

/** Answers that are decompressed and hashed at once. No source can hold one of them: its bytes are all here by then. */
const HANDS = 2

const REDIRECTS = new Set([301, 302, 303, 307, 308])

type Options = Parameters<SourceReader['read']>[1]
type Result = Awaited<ReturnType<SourceReader['read']>>

/** An address that was looked at and may be asked. */
interface Way {
  readonly url: URL
  readonly addresses: readonly string[]
  /** The key of what is asked for and where: equal reads may share an answer. */
  readonly key: string
  readonly deadline: number
}

/** @param parts.targets resolve a name and judge its addresses, with the operator's rules */
export function createReader({ targets, sender, rules, now, about }: ReaderParts): SourceReader {
  const cache = createSourceCache(now)
  const shared = createSingleFlight<Result>()
  const userAgent = userAgentOf(about)
  const threads = createSemaphore(HANDS)

  const ask = (way: Way, options: Options, kept: CachedAnswer | undefined) =>
    sendPublic(sender, {
      method: 'GET',
      url: way.url,
      addresses: way.addresses,
      accept: ACCEPT[options.wanted],
      userAgent,
      headers: [['cache-control', `max-age=${options.maxAgeSeconds}`], ...conditionsOf(kept)],
      partition: PARTITION,
      timeoutMs: Math.max(1, way.deadline - now()),
      maxBytes: MAX_BYTES[options.wanted],
      signal: options.signal,
    })

  /** Asks the source; what is kept of an earlier answer only saves its transfer. */
  async function readAnew(way: Way, options: Options): Promise<Result> {
    const kept = cache.find(way.key)
    const hasAsked = conditionsOf(kept).length > 0
    const sent = await ask(way, options, kept)
    if (!sent.ok) return fromSend(sent)
    if (!kept || !hasAsked || sent.response.status !== 304) return take(way, sent.response)
    const confirmed = freshen(kept, sent.response, now())
    if (confirmed) {
      cache.put(way.key, confirmed)
      return {
        ok: true,
        source: toSource(way.url.href, confirmed, { cache: 'revalidated', at: now() }),
      }
    }
    const again = await ask(way, options, undefined)
    return again.ok ? take(way, again.response) : fromSend(again)
  }

  /** Whatever was kept, this is what the source says now. */
  async function take({ key, url }: Way, response: OutboundResponse): Promise<Result> {
    cache.drop(key)
    const refused = redirectOf(response, url, rules) ?? fromStatus(response)
    if (refused) return refused
    const at = now()
    const read = await threads.run(() => readAnswer(response, at))
    if (!read.ok) return read
    cache.put(key, read.answer)
    return { ok: true, source: toSource(url.href, read.answer, { cache: 'miss', at: now() }) }
  }

  function findFresh({ key, url }: Way, { maxAgeSeconds }: Options): Result | undefined {
    const kept = cache.find(key)
    if (!kept || !isFresh(kept, maxAgeSeconds, now())) return undefined
    return { ok: true, source: toSource(url.href, kept, { cache: 'hit', at: now() }) }
  }

  /** A caller who takes an answer of some age also takes one that somebody else is just getting. */
  async function readShared(way: Way, options: Options): Promise<Result> {
    const running = shared.find(way.key, way.deadline)
    if (running) {
      const other = await running
      const result = other?.ok === false ? other : findFresh(way, options)
      // An answer that must not be kept belongs to the caller that asked for it.
      return result ?? readAnew(way, options)
    }
    const reading = readAnew(way, options)
    shared.start(way.key, way.deadline, async () => {
      const result = await reading
      return options.signal.aborted ? undefined : result
    })
    return reading
  }

  async function readAddress(text: string, options: Options): Promise<Result> {
    const verdict = parseTarget(text, rules)
    if (!verdict.ok) return toFailure(text, verdict, rules)
    const { url, host } = verdict
    const deadline = now() + options.timeoutMs
    // The operator's denials come before cached answers too: they hold for every answer from here on.
    const resolution = await targets.inspect({ host, blocked: undefined }, options.timeoutMs)
    if (!resolution.ok) return fromObstacle(resolution)
    const way = { url, addresses: resolution.addresses, key: `${options.wanted} ${url.href}`, deadline }
    if (options.maxAgeSeconds === 0) return readAnew(way, options)
    return findFresh(way, options) ?? readShared(way, options)
  }

  return {
    async read(text, options) {
      try {
        return await readAddress(text, options)
      } catch {
        return failure('unreadable', 'The gateway failed on this source. Try again later.')
      }
    },
  }
}

/** Where an answer redirects to; undefined where it does not. Some servers send a `Location` under a status of their own. */
function redirectOf(
  response: OutboundResponse,
  base: URL,
  rules: TargetOptions,
): ReturnType<typeof readRedirect> | undefined {
  const { status } = response
  const location = headerOf(response, 'location')
  const isRedirect =
    REDIRECTS.has(status) || (status >= 300 && status < 400 && status !== 304 && location !== undefined)
  return isRedirect ? readRedirect(location, base.href, status, rules) : undefined
}
