// npx node examples/store-credential.ts
// The operator stores a credential and issues a capability for it. The agent gets the capability, never the secret.
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

async function post(path: string, body: unknown) {
  const answer = await fetch(gateway + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${serviceKey}` },
    body: JSON.stringify(body),
  }).catch(() => {
    console.error(`No gateway answers at ${gateway}: start it, or set GATEWAY_BASE_URL.`)
    process.exit(1)
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

const credential = await post('/v1/egress/credentials', {
  provider: 'custom',
  label: 'example',
  secret: 'a-secret-the-agent-never-sees',
  hosts: ['sandbox.agent-gateway.test'],
  path_prefixes: ['/api'],
  methods: ['GET', 'POST'],
})
const capability = await post('/v1/egress/capabilities', {
  credential_id: credential.credential_id,
  methods: ['GET'],
  ttl_seconds: 900,
})

console.log(`export CREDENTIAL_ID=${credential.credential_id}`)
console.log(`export CAPABILITY=${capability.capability}`)
