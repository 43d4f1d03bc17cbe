// A service from an OpenAPI document, in one call: read from the seller's own proven host or given with the request. Says what became
// a route, what did not, and why.
import { GatewayError } from '../../core/errors.ts'
import { parseJson } from '../../lib/json.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { ListingEdit } from '../../../schemas/market-seller.ts'
import { applyEdit, hostOf, readOrigin } from './document.ts'
import type { Listings } from './listings.ts'
import { readOpenApi } from './openapi.ts'
import { activeSellerOf, demandProof, noPlace, ownWorkUnderWay, rulesOf, type SellerParts } from './parts.ts'
import type { ImportReport, ImportRequest, SellerKey, Sellers } from './ports.ts'
import { cleanLine, cleanText } from './words.ts'

const MAX_BYTES = 1024 * 1024
const MAX_DEPTH = 64
const READ_MS = 10_000
const READS_AT_ONCE = 4

/** @param listings where the service is made, or changed where there is one of this id */
export function createImport(
  parts: SellerParts,
  listings: Pick<Listings, 'create' | 'update'>,
): Pick<Sellers, 'import'> {
  const { store, read, target } = parts
  const reads = createSemaphore(READS_AT_ONCE)
  /** Sellers whose document is being read: nobody takes all the places with a slow host of its own. */
  const reading = new Set<string>()

  async function fetchDocument(sellerId: string, url: string, origin: string): Promise<unknown> {
    if (!URL.canParse(url) || new URL(url).host !== hostOf(origin) || !url.startsWith('https://'))
      throw new GatewayError('input_invalid', `/url: has to be on ${origin}: no other host is read for you.`)
    if (reading.has(sellerId)) throw ownWorkUnderWay('A document of yours is being read.', 5)
    reading.add(sellerId)
    const release = await reads.acquire(5000)
    try {
      if (!release) throw noPlace('Too many documents are being read.', 5)
      const found = await read(url, { timeoutMs: READ_MS, maxBytes: MAX_BYTES })
      if (!found.ok)
        throw new GatewayError('upstream_unreachable', `${url} could not be read (${found.reason}).`)
      if (found.status !== 200)
        throw new GatewayError(
          'upstream_unreachable',
          `${url} answered with status ${found.status}; redirects are not followed.`,
        )
      if (found.isCut)
        throw new GatewayError('input_invalid', `/url: the document is larger than ${MAX_BYTES} bytes.`)
      return parseJson(found.text, MAX_DEPTH)
    } finally {
      release?.()
      reading.delete(sellerId)
    }
  }

  return {
    async import(key: SellerKey, request: ImportRequest): Promise<ImportReport> {
      const seller = await activeSellerOf(parts, key)
      const origin = readOrigin(request.origin, target)
      if ((request.url === undefined) === (request.document === undefined))
        throw new GatewayError('input_conflict', 'Send either `url` or `document`.')
      if (request.url !== undefined) await demandProof(parts, seller, origin)
      const document =
        request.url === undefined ? request.document : await fetchDocument(seller.id, request.url, origin)
      const reading = readOpenApi(document, request.default_price_atomic)
      if (!reading.ok) throw new GatewayError('input_invalid', `/document: ${reading.why}.`)
      const { api } = reading
      if (api.routes.length === 0)
        throw new GatewayError('input_invalid', '/document: nothing in it can be sold. `skipped` says why.', {
          extras: { skipped: [...api.skipped] },
        })
      const notes = [...api.notes]
      const basePath = basePathOf(api.servers, origin, notes)
      const before = await store.findListing(seller.id, request.service_id)
      const edit: ListingEdit = {
        ...(before
          ? {}
          : {
              name: cleanLine(api.title, 80) || request.service_id,
              description: cleanText(api.description, 4000),
            }),
        base_path: basePath,
        ...request.overrides,
        origin,
        routes: [...api.routes],
      }
      const { routes, left } = await keepPossible(edit)
      const listing = before
        ? await listings.update(key, request.service_id, { ...edit, routes })
        : await listings.create(key, request.service_id, { ...edit, routes })
      return {
        listing,
        imported: routes.map(({ method, path }) => `${method} ${path}`),
        skipped: [...api.skipped, ...left],
        notes,
      }
    },
  }

  /** Leaves out the routes that no listing may hold: one bad schema of a hundred is no reason to import nothing. */
  async function keepPossible(edit: ListingEdit) {
    const rules = await rulesOf(parts)
    const routes: NonNullable<ListingEdit['routes']> = []
    const left: { operation: string; reason: string }[] = []
    for (const route of edit.routes ?? []) {
      try {
        applyEdit(undefined, { name: 'import', origin: edit.origin, routes: [route] }, rules)
        routes.push(route)
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        left.push({
          operation: `${route.method} ${route.path}`,
          reason: thrown.message.replace(/^\/routes\/0/, ''),
        })
      }
    }
    if (routes.length > 0) return { routes, left }
    throw new GatewayError('input_invalid', '/document: nothing in it can be sold. `skipped` says why.', {
      extras: { skipped: left },
    })
  }
}

/** The path of the first server that is of this origin; a relative one counts. */
function basePathOf(servers: readonly string[], origin: string, notes: string[]): string {
  for (const server of servers) {
    const url = URL.parse(server, origin)
    if (url?.origin === origin && url.search === '') return url.pathname.replace(/\/$/, '')
  }
  if (servers.length > 0)
    notes.push('None of the servers of the document is of this origin; its paths were taken from the root.')
  return ''
}
