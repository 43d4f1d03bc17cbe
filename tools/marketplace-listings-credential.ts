import { z } from 'zod'
import { HeaderName, HeaderScheme } from '../schemas/credential-settings.ts'
import { NewServiceId, OwnListing } from '../schemas/market-seller.ts'
import { Secret } from '../src/lib/secret.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceListingsCredential = defineTool({
  name: 'gateway.seller.credential',
  toolset: 'market',
  title: 'Set the credential of your upstream',
  summary:
    'Stores the secret that your upstream asks for, sealed, for the proven host of this service alone; it goes along with each call and is never ' +
    'shown. `secret: null` removes it.',
  brief: 'Seals the secret that your upstream asks for; it is never shown.',
  input: z.strictObject({
    service_id: NewServiceId,
    secret: z.string().min(1).max(8192).nullable().describe('Write-only; null removes it'),
    header: HeaderName.optional().describe('`authorization` by default'),
    scheme: HeaderScheme.optional().describe(
      'Word before the secret; `Bearer` by default with `authorization`, else none',
    ),
  }),
  output: OwnListing,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  rest: {
    method: 'POST',
    path: '/v1/marketplace/seller/services/credential',
    operationId: 'setServiceCredential',
  },
  maxDurationMs: 60_000,
  errors: [
    'seller_not_found',
    'service_not_found',
    'state_conflict',
    'rate_limited',
    'overloaded',
    'scope_denied',
    'credential_unavailable',
    'admin_required',
    'credential_not_found',
  ],
  examples: [
    { title: 'A bearer token', input: { service_id: 'weather', secret: 'replace-with-the-real-token' } },
  ],
  handle: function marketplaceListingsCredential(
    { service_id, secret, header, scheme },
    { sellers, caller },
  ) {
    return sellers.setCredential(
      caller,
      service_id,
      secret === null ? null : { secret: new Secret(secret), header, scheme },
    )
  },
})
