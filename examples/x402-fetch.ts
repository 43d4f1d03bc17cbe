// npx node examples/x402-fetch.ts
// Buys an outcome with @x402/fetch and the sandbox's test payer. No account is needed.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'
const accounts = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'chains/accounts.json')
if (!existsSync(accounts)) {
  console.error(`There is no ${accounts}. Run this where the sandbox was started, or set GATEWAY_DATA_DIR.`)
  process.exit(1)
}

const { payer } = JSON.parse(await readFile(accounts, 'utf8'))
const client = new ExactEvmScheme(privateKeyToAccount(payer.private_key))
const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: 'eip155:*', client }] })

const answer = await payingFetch(`${gateway}/v1/execute`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ capability: 'feed-digest', limit: 3 }),
})
console.log(await answer.text())
