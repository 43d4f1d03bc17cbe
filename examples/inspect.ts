// npx node examples/inspect.ts
// Asks what a transaction is and whether policy allows it, before anybody sends it. No key is needed.
const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const answer = await fetch(`${gateway}/v1/inspect`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    target: 'https://shop.example/checkout_sessions',
    method: 'POST',
    headers: { 'API-Version': '2026-04-17' },
    body: { currency: 'usd', line_items: [{ id: 'item_123' }] },
  }),
})
console.log(JSON.stringify(await answer.json(), undefined, 2))
