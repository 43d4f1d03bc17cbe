// npx node examples/permit.ts
// An operator prepares and approves a permit for one exact request; an agent executes it once, without any other token.
// CREDENTIAL_ID comes from store-credential.ts.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'
const keyFile = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'operator.key')
if (!existsSync(keyFile)) {
  console.error(`There is no ${keyFile}. Run this where the gateway was started, or set GATEWAY_DATA_DIR.`)
  process.exit(1)
}
const serviceKey = (await readFile(keyFile, 'utf8')).trim()

const credentialId = process.env.CREDENTIAL_ID
if (!credentialId) {
  console.error('Set CREDENTIAL_ID first: eval "$(npx node examples/store-credential.ts)"')
  process.exit(1)
}

async function post(path: string, body: unknown, token?: string) {
  const answer = await fetch(gateway + path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  return answer.json()
}

const request = {
  url: 'https://sandbox.agent-gateway.test/api/whoami',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"order": "green tea"}',
}
const prepared = await post(
  '/v1/actions/permits',
  {
    credential_id: credentialId,
    request,
    mandate: {
      purpose: 'Order green tea',
      credential_id: credentialId,
      host: 'sandbox.agent-gateway.test',
      path_prefix: '/api',
      methods: ['POST'],
      max_calls: 1,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      requires_approval: true,
    },
  },
  serviceKey,
)
console.log(prepared.state) // pending_approval

const approved = await post(`/v1/actions/permits/${prepared.permit_id}/approve`, {}, serviceKey)
console.log(approved.state) // ready, for 300 seconds

const executed = await post('/v1/actions/execute', { permit: prepared.permit, request })
console.log(executed.upstream.status, executed.receipt.url)

const again = await post('/v1/actions/execute', { permit: prepared.permit, request })
console.log(again.status, again.code) // 409 permit_used
