// The order of a list. A place depends on the query and the one listing only, so that a cursor stays true when others come and go.
import type { MarketQuery } from '../../../schemas/market.ts'
import type { Position } from '../../lib/cursor.ts'
import type { ServiceDays } from '../../store/ports.ts'
import { percentile } from '../trust/figures.ts'
import { type Catalogue, type Entry, environmentOf } from './catalogue.ts'

export interface Scored {
  readonly entry: Entry
  /** How well it fits the words of the query. */
  readonly score: number
}

/** Behind everything that has a figure; JSON knows no infinity. */
const LAST = 1e15

/** @returns the place of a listing in the order that the query asks for: compared part by part, ascending */
export function orderOf(
  { sort, q, network }: Pick<MarketQuery, 'sort' | 'q' | 'network'>,
  catalogue: Pick<Catalogue, 'standing'>,
): (scored: Scored) => Position {
  const environment = environmentOf(network)
  const known = ({ offer: { sellerId, serviceId } }: Entry) =>
    catalogue.standing({ sellerId, serviceId, environment })
  const payers = (entry: Entry) => known(entry)?.standing.payers ?? 0
  switch (sort) {
    case 'price':
      return ({ entry }) => [Number(entry.price), -payers(entry), entry.key]
    case 'payers':
      return ({ entry }) => [-payers(entry), -(known(entry)?.standing.settled ?? 0), entry.key]
    case 'success_rate':
      return ({ entry }) => {
        const days = known(entry)?.days
        return [-(successRateOf(days) ?? -1), -(days?.settled ?? 0), entry.key]
      }
    case 'latency':
      return ({ entry }) => {
        const days = known(entry)?.days
        return [percentile(days, 0.5) ?? LAST, percentile(days, 0.95) ?? LAST, entry.key]
      }
    case 'newest':
      return ({ entry }) => [-(entry.offer.createdAt ?? 0), 0, entry.key]
    default:
      return q === undefined
        ? ({ entry }) => [entry.offer.isOurs ? 0 : 1, -payers(entry), entry.key]
        : ({ entry, score }) => [-score, -payers(entry), entry.key]
  }
}

/** Null where nothing was called. */
export function successRateOf(days: ServiceDays | undefined): number | null {
  if (!days) return null
  const { unreachable, timeout, status, answer, schema } = days.failures
  const all = days.settled + unreachable + timeout + status + answer + schema
  return all === 0 ? null : days.settled / all
}
