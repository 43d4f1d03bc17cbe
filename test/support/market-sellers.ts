// Sellers and listings to test with.
import type { Input, ListingDocument, Seller, Store } from '../../src/store/ports.ts'
import { NOW } from './store.ts'

export const PAYOUT = '0x00000000000000000000000000000000000000aa'

export const listingDocument = (over: Partial<ListingDocument> = {}): ListingDocument => ({
  name: 'Weather',
  description: 'Says what the weather is.',
  tags: ['weather'],
  origin: 'https://api.example.com',
  basePath: '',
  routes: [
    {
      path: '/',
      method: 'GET',
      summary: 'Now',
      priceAtomic: '5000',
      inputSchema: null,
      bodySchema: null,
      outputSchema: null,
      example: null,
      timeoutMs: 5000,
      maxResponseBytes: 65_536,
    },
  ],
  maxRequestsPerMinute: 60,
  credentialId: null,
  refundPolicy: null,
  termsUrl: null,
  ...over,
})

export const newSeller = (id: string, over: Partial<Seller> = {}): Seller => ({
  id,
  accountId: `acct_${id}`,
  name: id,
  description: '',
  payoutAddress: PAYOUT,
  contact: null,
  webhookUrl: null,
  state: 'active',
  stateReason: null,
  version: 1,
  createdAt: NOW,
  updatedAt: NOW,
  ...over,
})

/** A seller with an account of its own that has a key. */
export function registration(
  seller: Seller,
  keyHash: Buffer,
  over: Partial<Input<'createSeller'>> = {},
): Input<'createSeller'> {
  const { accountId, createdAt } = seller
  const account = { id: accountId, name: seller.id, createdAt }
  const key = { id: `key_${accountId}`, accountId, label: 'seller', createdAt, revokedAt: null }
  return {
    seller,
    skeleton: seller.id,
    opening: { account, key: { ...key, admin: false, role: 'seller' }, keyHash },
    from: '192.0.2.1',
    limits: { perAddress: 2, perDay: 3 },
    ...over,
  }
}

type Run = <K extends keyof Store>(
  name: K,
  ...args: Parameters<Extract<Store[K], (...args: never) => unknown>>
) => void

/** Every command of sellers that writes and forgets no rows, at least once with an effect. */
export function runSellerCommands(run: Run): void {
  const of = { sellerId: 'acme', host: 'api.example.com' }
  const listing = { sellerId: 'acme', serviceId: 'weather' }
  const event = (id: string) => ({ id, type: 'test', data: {} })
  run('addMarketEvent', { sellerId: 'acme', event: event('evt_0'), now: NOW })
  run('takeMarketEvents', { now: NOW, busyUntil: NOW + 1, limit: 9 })
  run('finishMarketEvent', { id: 'evt_0', state: 'sent', nextAt: NOW, problem: null, now: NOW })
  run('forgetMarketEvents', { finishedBefore: NOW + 1, limit: 9 })
  run('claimHost', { ...of, challenge: 'c', limit: 9, now: NOW })
  run('createListing', {
    ...listing,
    skeleton: 'weather',
    host: of.host,
    document: listingDocument(),
    limit: 9,
    now: NOW,
  })
  run('reviseListing', {
    ...listing,
    fromVersion: 1,
    host: of.host,
    document: listingDocument(),
    maxRevisionsADay: 9,
    event: event('evt_1'),
    now: NOW,
  })
  run('noteListingCheck', { ...listing, version: 2, now: NOW })
  run('setListingState', {
    ...listing,
    from: ['draft'],
    to: 'active',
    reason: null,
    event: event('evt_2'),
    now: NOW,
  })
  const signature = { kind: 'eip191', text: '0x', address: PAYOUT } as const
  run('proveHost', { ...of, method: 'dns', signature, event: event('evt_3'), now: NOW })
  run('takeHostsToCheck', { checkedBefore: NOW + 1, failingBefore: 0, provenSince: 0, limit: 9, now: NOW })
  run('noteHostFailure', { ...of, problem: 'timeout', now: NOW })
  const lapse = { ...of, problem: 'no_record', reason: 'The proof is gone.', now: NOW }
  for (const id of ['evt_4', 'evt_5']) run('lapseHost', { ...lapse, event: event(id) })
  run('proveHost', { ...of, method: 'dns', signature, event: event('evt_6'), now: NOW })
}
