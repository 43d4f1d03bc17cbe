// Entries and pages as x402 catalogues serve them.

export const PAYEE = '0x1111111111111111111111111111111111111111'
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

export const acceptV2 = (over: Record<string, unknown> = {}) => ({
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
  ...over,
})

export const acceptV1 = (over: Record<string, unknown> = {}) => ({
  scheme: 'exact',
  network: 'base',
  maxAmountRequired: '1000',
  resource: 'https://api.example.com/weather',
  description: 'v1 text',
  mimeType: 'application/json',
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  asset: USDC,
  outputSchema: { input: { type: 'http', method: 'POST', discoverable: true } },
  extra: { name: 'USD Coin', version: '2' },
  ...over,
})

export const itemOf = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  resource: 'https://api.example.com/weather',
  type: 'http',
  x402Version: 2,
  accepts: [acceptV2()],
  lastUpdated: '2026-11-01T00:00:00.000Z',
  ...over,
})

/** One page of a catalogue that knows `offset` and `limit`. */
export function pageOf(items: readonly unknown[], target: string): string {
  const query = new URL(target, 'https://x.example').searchParams
  const offset = Number(query.get('offset') ?? 0)
  const limit = Math.min(Number(query.get('limit') ?? 20), 100)
  return JSON.stringify({
    x402Version: 2,
    items: items.slice(offset, offset + limit),
    pagination: { limit, offset, total: items.length },
  })
}
