// Sellers and listings, written straight into the store of a gateway that runs: what they go through before they sell is elsewhere.
import { join } from 'node:path'
import type { Command } from '../../src/store/command.ts'
import { claimHost, proveHost } from '../../src/store/commands/market-hosts.ts'
import { createListing, reviseListing, setListingState } from '../../src/store/commands/market-listings.ts'
import { createSeller } from '../../src/store/commands/market-sellers.ts'
import { all } from '../../src/store/command.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { ListingDocument, ListingRoute, ListingState } from '../../src/store/ports.ts'
import type { World } from './gateway.ts'

export const SELLER = 'acme-weather'
export const PAYOUT_ADDRESS = '0x2222222222222222222222222222222222222222'

export const routeOf = (over: Partial<ListingRoute> = {}): ListingRoute => ({
  path: '/',
  method: 'GET',
  summary: 'The weather of a city',
  priceAtomic: '5000',
  inputSchema: null,
  bodySchema: null,
  outputSchema: null,
  example: null,
  timeoutMs: 5_000,
  maxResponseBytes: 65_536,
  ...over,
})

export interface SeededMarket {
  list(serviceId: string, over?: Partial<ListingDocument>, state?: ListingState): ListingDocument
  revise(serviceId: string, fromVersion: number, document: ListingDocument): void
  move(serviceId: string, to: ListingState, reason: string | null): void
  sql<T>(text: string, ...values: readonly (string | number)[]): readonly T[]
}

/** @param world of a gateway on SQLite */
export function seedMarket(world: Pick<World, 'env' | 'url'>, now: () => number = Date.now): SeededMarket {
  const drive = <T>(command: () => Command<T>): T => {
    const db = openDatabase(join(world.env['GATEWAY_DATA_DIR'] ?? '', 'gateway.db'))
    try {
      db.begin()
      const made = db.drive(command())
      db.commit()
      return made
    } finally {
      db.close()
    }
  }
  const event = () => ({ id: crypto.randomUUID(), type: 'listing.changed', data: {} })
  const [account] = drive(() => all<{ id: string }>('SELECT id FROM accounts ORDER BY id LIMIT 1'))
  if (!account) throw new Error('a gateway has an account')
  const made = drive(() =>
    createSeller({
      seller: {
        id: SELLER,
        accountId: account.id,
        name: 'Acme Weather',
        description: 'Weather',
        payoutAddress: PAYOUT_ADDRESS,
        contact: null,
        webhookUrl: null,
        state: 'active',
        stateReason: null,
        version: 1,
        createdAt: now(),
        updatedAt: now(),
      },
      skeleton: SELLER,
      from: null,
      limits: { perAddress: 10, perDay: 10 },
    }),
  )
  if (!made.ok) throw new Error(made.reason)

  return {
    list(serviceId, over = {}, state = 'active') {
      const document: ListingDocument = {
        name: `Service ${serviceId}`,
        description: 'Says something',
        tags: [],
        origin: world.url(''),
        basePath: '',
        routes: [routeOf()],
        maxRequestsPerMinute: 600,
        credentialId: null,
        refundPolicy: null,
        termsUrl: null,
        ...over,
      }
      const host = new URL(document.origin).host
      const of = { sellerId: SELLER, host, now: now() }
      const signature = { kind: 'eip191', text: '0x', address: PAYOUT_ADDRESS } as const
      drive(() => claimHost({ ...of, challenge: 'c', limit: 100 }))
      drive(() => proveHost({ ...of, method: 'dns', signature, event: event() }))
      const created = drive(() =>
        createListing({
          sellerId: SELLER,
          serviceId,
          skeleton: serviceId,
          host,
          document,
          limit: 1000,
          now: now(),
        }),
      )
      if (!created.ok) throw new Error(created.reason)
      if (state !== 'draft') this.move(serviceId, state, null)
      return document
    },
    revise(serviceId, fromVersion, document) {
      const host = new URL(document.origin).host
      const revised = drive(() =>
        reviseListing({
          sellerId: SELLER,
          serviceId,
          fromVersion,
          host,
          document,
          maxRevisionsADay: 100,
          event: event(),
          now: now(),
        }),
      )
      if (!revised.ok) throw new Error(revised.reason)
    },
    move(serviceId, to, reason) {
      const from = ['draft', 'pending', 'active', 'paused', 'suspended'] as const
      drive(() =>
        setListingState({ sellerId: SELLER, serviceId, from, to, reason, event: event(), now: now() }),
      )
    },
    sql: (text, ...values) => drive(() => all(text, ...values)),
  }
}
