// npx node examples/edge-merchant.ts
// A merchant lets agents pay through the gateway: publish a DNS record, check it, and serve the first buyer.
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
const host = 'sandbox.agent-gateway.test' // the sample site publishes its record when it is asked for

const checked = await fetch(`${gateway}/v1/edge/check`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${serviceKey}` },
  body: JSON.stringify({ host }),
})
console.log(JSON.stringify(await checked.json(), undefined, 2))

// The buyer needs no token of the gateway: its request and the merchant's answer pass as they are.
const answer = await fetch(`${gateway}/edge/${host}/api/items`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ item: 1, quantity: 2 }),
})
console.log(answer.status, await answer.text())
console.log(answer.headers.get('X-Gateway-Receipt-Url'))
