// npx node examples/x402-axios.ts
// Buys one web page with @x402/axios and the sandbox's test payer. No account is needed.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { wrapAxiosWithPayment, x402Client } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm'
import axios from 'axios'
import { privateKeyToAccount } from 'viem/accounts'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'
const accounts = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'chains/accounts.json')
if (!existsSync(accounts)) {
  console.error(`There is no ${accounts}. Run this where the sandbox was started, or set GATEWAY_DATA_DIR.`)
  process.exit(1)
}

const { payer } = JSON.parse(await readFile(accounts, 'utf8'))
const client = new x402Client()
client.register('eip155:*', new ExactEvmScheme(privateKeyToAccount(payer.private_key)))
const api = wrapAxiosWithPayment(axios.create({ baseURL: gateway }), client)

const { data } = await api.post('/v1/tools/web.fetch', { url: 'https://sandbox.agent-gateway.test/tea/one' })
console.log(JSON.stringify(data))
