// How one permit stands, as server-sent events: as it is at the beginning, again whenever people say something, and last when they have
// decided. Every event is the whole of it, so that whoever lost the line misses nothing.
import type { ServerResponse } from 'node:http'
import type { Operator } from '../../core/caller.ts'
import { GatewayError } from '../../core/errors.ts'
import { checkRole } from '../../core/roles.ts'
import type { FollowedPermit } from '../../actions/ports.ts'
import type { PermitStanding } from '../../../schemas/actions.ts'
import type { DoorParts } from '../parts.ts'
import { openEventStream, sendEmpty } from '../http/reply.ts'
import { presentedTokens } from '../http/request.ts'
import type { Exchange, Resource } from '../http/resource.ts'

export const PERMIT_EVENTS_PATH = '/v1/actions/permits/{permit_id}/events'
/** A key that is revoked meanwhile hears no longer than this: whoever comes back shows it again. */
const LONGEST_MS = 15 * 60_000
/** The tool whose answer this is, again and again. */
const TOOL = 'gateway.actions.permits.get'

type Parts = Pick<DoorParts, 'calls' | 'registry' | 'services' | 'log' | 'now'>

/** `GET /v1/actions/permits/{permit_id}/events`, with a service key or with the permit itself as `Authorization: Bearer`. */
export function permitEvents(parts: Parts): Resource {
  const { calls, registry, services, log, now } = parts

  async function follow({ req, params, context }: Exchange, news: () => void): Promise<FollowedPermit> {
    const tokens = presentedTokens(req)
    const caller = await calls.admit('permit events', tokens, context.address)
    const permitId = params['permit_id'] ?? ''
    const { bearer } = tokens
    if (caller.kind === 'operator') {
      checkReader(caller)
      return services.actions.follow({ accountId: caller.accountId, permitId }, news)
    }
    if (bearer === undefined || bearer.startsWith('agw_'))
      throw new GatewayError(
        'key_required',
        'Send a service key (agw_sk_…), or the permit itself, as `Authorization: Bearer`.',
      )
    const followed = await services.actions.follow({ permit: bearer }, news)
    if (followed.permitId === permitId) return followed
    followed.end()
    throw new GatewayError('permit_not_found', 'The permit that you show has another id.')
  }

  function checkReader(caller: Operator): void {
    const entry = registry.find(TOOL)
    if (entry) checkRole(entry.tool, caller, now())
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { req, res, context } = exchange
    let wake = () => {}
    let isNews = false
    const tell = () => {
      isNews = true
      wake()
    }
    const followed = await follow(exchange, tell)
    const timer = setTimeout(() => res.end(END_OF_TIME), LONGEST_MS).unref()
    res.once('close', tell)
    try {
      let standing = await followed.read()
      const headers = { 'x-request-id': context.requestId, 'x-content-type-options': 'nosniff' }
      // A browser that lost the line at the end asks again for ever, unless it is told that there is no more.
      if (req.headers['last-event-id'] === idOf(standing) && isOver(standing))
        return sendEmpty(res, 204, headers)
      if (res.destroyed) return
      openEventStream(res, headers)
      if (req.method === 'HEAD') return void res.end()
      let sent = send(res, standing)
      while (!isOver(standing) && followed.isOpen && !res.destroyed && !res.writableEnded) {
        if (!isNews)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        isNews = false
        standing = await followed.read()
        if (idOf(standing) !== sent && !res.destroyed && !res.writableEnded) sent = send(res, standing)
      }
      if (!res.writableEnded) res.end(followed.isOpen ? '' : DRAINING)
    } catch (thrown) {
      if (!res.headersSent) throw thrown
      // The head is sent, so that the line is cut: whoever listens comes back and is told why.
      log.warn({ err: thrown }, 'a stream of a permit ended')
      res.destroy()
    } finally {
      clearTimeout(timer)
      followed.end()
    }
  }

  return { path: PERMIT_EVENTS_PATH, methods: { GET: handle } }
}

const isOver = ({ state }: PermitStanding) => state !== 'pending_approval'

/** What stands, in a word: the same again is not sent twice. */
const idOf = ({ state, approvals }: PermitStanding) => `${state}-${approvals}`

function send(res: ServerResponse, standing: PermitStanding): string {
  const id = idOf(standing)
  res.write(`id: ${id}\nevent: permit\ndata: ${JSON.stringify(standing)}\n\n`)
  return id
}

const END_OF_TIME = 'event: end\ndata: {"why":"again"}\n\n'
const DRAINING = 'event: end\ndata: {"why":"draining"}\n\n'
