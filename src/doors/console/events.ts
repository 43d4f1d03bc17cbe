// News for pages that are open, as server-sent events. Whoever reads them is looked up again while the page is open: a session that ended, or
// a role that changed, ends the stream within seconds.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { LIVE_TOPICS, MOST_WAITING, type LiveTopic, type Subscription } from '../../core/live-events.ts'
import type { SignedIn } from '../../store/ports.ts'
import { openEventStream } from '../http/reply.ts'
import type { Exchange, Handler } from '../http/resource.ts'
import { pageHeaders } from '../site/headers.ts'
import { senderOf } from '../site/own-page.ts'
import { createPageLimit } from '../site/page-limit.ts'
import { readSessionCookie } from './cookie.ts'
import type { ConsoleParts } from './ports.ts'
import { maySee } from './routes.ts'

/** A browser opens six connections to one host in all, and pages that nobody sees close theirs. */
export const STREAMS_PER_SESSION = 4
/** Somebody signs in as often as they like, and an account lets in as many as it likes: neither takes the streams of the others. */
export const STREAMS_PER_PERSON = 16
export const STREAMS_PER_ACCOUNT = 128
/** Of everybody together. */
export const STREAMS = 256
const LOOK_AGAIN_MS = 2000
/** A page that took nothing for so long is gone, whatever its connection says. */
const STUCK_MS = 60_000

interface Stream {
  readonly token: string
  readonly signedIn: SignedIn
  readonly res: ServerResponse
  readonly subscription: Subscription
  stuckSince: number | undefined
}

export interface EventStreams {
  /** `GET /console/events?topics=decision,job&after=ID` */
  readonly handle: Handler
  /** Ends every stream: a gateway that stops waits for its answers. */
  close(): void
}

/** The streams of one process. */
export function createEvents(
  parts: Pick<ConsoleParts, 'identity' | 'services' | 'addresses' | 'config' | 'log'>,
): EventStreams {
  const { identity, services, addresses, config, log } = parts
  const limit = createPageLimit(config.rateLimit)
  const streams = new Set<Stream>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  /** Sessions are asked for one after the other: nobody waits for the answer. */
  async function lookAgain(): Promise<void> {
    const bySession = Map.groupBy(streams, ({ token }) => token)
    for (const [token, its] of bySession) {
      const found = await identity.sessions.find(token).catch((err: unknown) => {
        log.warn({ err }, 'a session could not be looked up again: its streams are closed')
        return undefined
      })
      for (const stream of its) {
        if (found && isSame(found, stream.signedIn) && !isStuck(stream)) continue
        end(stream, found === undefined ? 'signed_out' : 'changed')
      }
    }
    timer =
      isClosed || streams.size === 0 ? undefined : setTimeout(() => void lookAgain(), LOOK_AGAIN_MS).unref()
  }

  function isStuck(stream: Stream): boolean {
    const now = performance.now()
    if (stream.res.writableLength <= MOST_WAITING) stream.stuckSince = undefined
    else stream.stuckSince ??= now
    return stream.stuckSince !== undefined && now - stream.stuckSince > STUCK_MS
  }

  function end(stream: Stream, why: 'signed_out' | 'changed'): void {
    drop(stream)
    if (isStuck(stream)) stream.res.destroy()
    else stream.res.end(`event: end\ndata: ${JSON.stringify({ why })}\n\n`)
  }

  function drop(stream: Stream): void {
    if (streams.delete(stream)) stream.subscription.end()
  }

  function hasManyStreams({ sessionId, personId, accountId }: SignedIn): boolean {
    const ofAccount = [...streams].filter(({ signedIn }) => signedIn.accountId === accountId)
    const ofPerson = [...streams].filter(({ signedIn }) => signedIn.personId === personId)
    const ofSession = ofPerson.filter(({ signedIn }) => signedIn.sessionId === sessionId)
    return (
      ofSession.length >= STREAMS_PER_SESSION ||
      ofPerson.length >= STREAMS_PER_PERSON ||
      ofAccount.length >= STREAMS_PER_ACCOUNT ||
      streams.size >= STREAMS
    )
  }

  async function handle({ req, res, context }: Exchange): Promise<void> {
    await limit.count(context.address)
    if (senderOf(req) !== 'own page')
      throw new GatewayError('origin_denied', 'News are for pages of this console alone.')
    const token = readSessionCookie(req, addresses.baseUrl)
    const signedIn = token === undefined ? undefined : await identity.sessions.find(token)
    if (token === undefined || !signedIn)
      throw new GatewayError('sign_in_required', 'You are signed out. Sign in again.')
    if (!maySee('live', signedIn))
      throw new GatewayError('role_required', `News are not for the role ${signedIn.role}.`)
    if (isClosed) throw new GatewayError('draining', 'This gateway is shutting down.')
    const query = new URLSearchParams(context.query)
    const topics = topicsIn(query.get('topics'))
    if (hasManyStreams(signedIn))
      throw new GatewayError(
        'rate_limited',
        `At most ${STREAMS_PER_SESSION} pages of one session hear news at once, ${STREAMS_PER_PERSON} of one person. Close one.`,
        { extras: { retry_after_seconds: 30 } },
      )
    openEventStream(res, {
      ...pageHeaders({ baseUrl: addresses.baseUrl, siteUrl: addresses.baseUrl }),
      'x-request-id': context.requestId,
    })
    if (req.method === 'HEAD') return void res.end()
    const subscription = services.live.subscribe({ ...signedIn, topics }, lastOf(req, query), {
      get waiting() {
        return res.writableLength
      },
      write: (text) => void res.write(text),
    })
    const stream: Stream = { token, signedIn, res, subscription, stuckSince: undefined }
    streams.add(stream)
    res.on('drain', () => subscription.more())
    res.once('close', () => drop(stream))
    if (res.destroyed) drop(stream)
    timer ??= setTimeout(() => void lookAgain(), LOOK_AGAIN_MS).unref()
  }

  return {
    handle,
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const stream of streams) {
        drop(stream)
        stream.res.end()
      }
    },
  }
}

const isSame = (now: SignedIn, then: SignedIn) =>
  now.accountId === then.accountId && now.role === then.role && now.admin === then.admin

/** @throws {GatewayError} request_invalid */
function topicsIn(text: string | null): ReadonlySet<LiveTopic> {
  if (text === null) return new Set(LIVE_TOPICS)
  const asked = new Set(text.split(','))
  const topics = LIVE_TOPICS.filter((topic) => asked.has(topic))
  if (topics.length !== asked.size)
    throw new GatewayError('request_invalid', `\`topics\` names some of ${LIVE_TOPICS.join(', ')}.`)
  return new Set(topics)
}

/** A browser that reconnects says it in a header, a page that came back in its address. */
function lastOf({ headers }: IncomingMessage, query: URLSearchParams): string | undefined {
  const last = headers['last-event-id']
  return typeof last === 'string' && last !== '' ? last : (query.get('after') ?? undefined)
}
