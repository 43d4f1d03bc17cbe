// Looking back through a chain: newest first, by the beginning of an event's name, by who acted or by what it happened to. There is no index of
// events, since they are written far more often than looked for: so many are read at once, and whoever wants more goes on from there.
import { AuditEvent } from '../../schemas/audit.ts'
import type { AuditEvent as StoredEvent, Store } from '../store/ports.ts'
import type { AuditSearch, FoundEvents } from './ports.ts'

const BATCH = 500
/** Events that one question looks at: 5,000 are read and parsed in 40 ms. */
export const LOOKED_AT = 5000

/** @param page.limit most events that are found */
export async function searchEvents(
  store: Pick<Store, 'getAuditChain' | 'listAuditEvents'>,
  filter: AuditSearch,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<FoundEvents> {
  const { chain } = filter
  const total = (await store.getAuditChain(chain))?.seq ?? 0
  const events: AuditEvent[] = []
  let upTo = Math.min(total, before === undefined ? total : before - 1)
  const floor = Math.max(upTo - LOOKED_AT, 0)
  while (upTo > floor) {
    const after = Math.max(upTo - BATCH, floor)
    const rows = await store.listAuditEvents({ chain, after, upTo, limit: BATCH })
    for (const row of rows.toReversed()) {
      const event = toEvent(row)
      if (!event || !fits(event, filter)) continue
      if (events.length === limit) return { events, next: event.seq + 1, total }
      events.push(event)
    }
    upTo = after
  }
  return { events, next: floor > 0 ? floor + 1 : null, total }
}

/**
 * An event as it is published.
 * @returns undefined where the row was changed into something that is no event: nobody could be shown the others with it
 */
export function toEvent({ body, hash }: StoredEvent): AuditEvent | undefined {
  try {
    return AuditEvent.safeParse({ ...JSON.parse(body), hash }).data
  } catch {
    return undefined
  }
}

const fits = ({ event, actor, subject }: AuditEvent, { event: name, id, from }: AuditSearch): boolean =>
  (name === undefined || event.startsWith(name)) &&
  (id === undefined || actor.id === id || subject?.id === id) &&
  (from === undefined || [actor.door, actor.tool, actor.address].includes(from))
