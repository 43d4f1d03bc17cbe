// The order of a list. A place depends on the query and the one listing only, so that a cursor stays true when others come and go.
import type { MarketQuery } from '../../../schemas/market.ts'
import type { Position } from '../../lib/cursor.ts'
import { type Catalogue, type Entry, environmentOf, type Scored } from './catalogue.ts'

/** Behind everything that has a figure; JSON knows no infinity. */
const LAST = 1e15

/** @returns the place of a listing in the order that the query asks for: compared part by part, ascending */
export function orderOf(
  { sort, q, network }: Pick<MarketQuery, 'sort' | 'q' | 'network'>,
  catalogue: Pick<Catalogue, 'known'>,
): (scored: Scored) => Position {
  const environment = environmentOf(network)
  const known = (entry: Entry) => catalogue.known(entry, environment)
  const payers = (entry: Entry) => known(entry)?.standing.payers ?? 0
  switch (sort) {
    case 'price':
      return ({ entry }) => [Number(entry.price), -payers(entry), entry.key]
    case 'payers':
      return ({ entry }) => [-payers(entry), -(known(entry)?.standing.settled ?? 0), entry.key]
    case 'success_rate':
      return ({ entry }) => [
        -(known(entry)?.successRate ?? -1),
        -(known(entry)?.days?.settled ?? 0),
        entry.key,
      ]
    case 'latency':
      return ({ entry }) => [known(entry)?.p50 ?? LAST, known(entry)?.p95 ?? LAST, entry.key]
    case 'newest':
      return ({ entry }) => [-(entry.offer.createdAt ?? 0), 0, entry.key]
    default:
      return q === undefined
        ? ({ entry }) => [entry.offer.isOurs ? 0 : 1, -payers(entry), entry.key]
        : ({ entry, score }) => [-score, -payers(entry), entry.key]
  }
}
