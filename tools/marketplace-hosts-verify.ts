import { z } from 'zod'
import { listingFields, OwnershipProofs, OwnHost } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceHostsVerify = defineTool({
  name: 'gateway.seller.verify',
  toolset: 'market',
  title: 'Prove a host',
  summary:
    'Looks for the challenge in DNS and in the file, and checks the signature of the origin by your payout account. The first seller that ' +
    'proves a host holds it; the proof is looked for every day, and services pause while it is gone.',
  brief: 'Looks for the challenge and checks the signature; the first seller to prove a host holds it.',
  input: z.strictObject({ origin: listingFields.origin, ownership_proofs: OwnershipProofs.default([]) }),
  output: z.strictObject({
    proven: z.boolean(),
    problems: z.array(z.string()),
    resumed_services: z.int(),
    host: OwnHost,
  }),
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/seller/hosts/verify', operationId: 'verifySellerHost' },
  errors: ['seller_not_found', 'state_conflict', 'target_blocked'],
  examples: [
    {
      title: 'With the signature',
      input: { origin: 'https://api.acme-weather.com', ownership_proofs: ['0x00'] },
    },
  ],
  handle: async function marketplaceHostsVerify({ origin, ownership_proofs }, { sellers, caller }) {
    const { proven, problems, resumed, host } = await sellers.verifyHost(caller, origin, ownership_proofs)
    return { proven, problems: [...problems], resumed_services: resumed, host }
  },
})
