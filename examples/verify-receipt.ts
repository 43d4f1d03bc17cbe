// npx node examples/verify-receipt.ts
// Verifies a receipt with `jose` and the keys that the gateway publishes. CAPABILITY comes from store-credential.ts.
import { compactVerify, createRemoteJWKSet } from 'jose'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const answer = await fetch(`${gateway}/v1/egress/fetch`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${process.env.CAPABILITY}` },
  body: JSON.stringify({ method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' }),
})
const { receipt } = await answer.json()

// Whoever was handed the receipt needs this part only.
const keys = createRemoteJWKSet(new URL(`${gateway}/.well-known/gateway-egress-key.json`))
const { payload, protectedHeader } = await compactVerify(receipt.jws, keys, { algorithms: ['EdDSA'] })
if (protectedHeader.typ !== 'gw-receipt+jws') throw new Error(`not a receipt: ${protectedHeader.typ}`)
console.log(JSON.parse(new TextDecoder().decode(payload)))
