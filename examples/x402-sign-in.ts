// npx node examples/x402-sign-in.ts
// Fetches a result that was paid for and never arrived. A payment of x402 v1 holds no secret, because the chain shows all of it
// once it is settled; so the wallet that paid signs for the result (x402 extension sign-in-with-x).
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'
const accounts = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'chains/accounts.json')
if (!existsSync(accounts)) {
  console.error(`There is no ${accounts}. Run this where the sandbox was started, or set GATEWAY_DATA_DIR.`)
  process.exit(1)
}

const { payer } = JSON.parse(await readFile(accounts, 'utf8'))
const wallet = privateKeyToAccount(payer.private_key)
const chainId = 8453
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

const buy = (headers: Record<string, string> = {}) =>
  fetch(`${gateway}/v1/execute`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ capability: 'feed-digest', limit: 2 }),
  })

// Pay as a client of v1 does.
const { accepts } = await (await buy()).json()
const offer = accepts.find(({ network }: { network: string }) => network === 'base')
const authorization = {
  from: wallet.address,
  to: offer.payTo,
  value: offer.maxAmountRequired,
  validAfter: '0',
  validBefore: String(Math.floor(Date.now() / 1000) + 300),
  nonce: `0x${randomBytes(32).toString('hex')}` as const,
}
const signature = await wallet.signTypedData({
  domain: { ...offer.extra, chainId, verifyingContract: offer.asset },
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'TransferWithAuthorization',
  message: {
    ...authorization,
    value: BigInt(authorization.value),
    validAfter: 0n,
    validBefore: BigInt(authorization.validBefore),
  },
})
const payment = { x402Version: 1, scheme: 'exact', network: 'base', payload: { signature, authorization } }
const headers = { 'X-PAYMENT': base64(payment) }
await buy(headers)

// The answer is lost. The same bytes again are charged nothing, and say what to sign.
const copy = await (await buy(headers)).json()
console.log(copy.code)
const { info } = copy.sign_in
const message = createSiweMessage({
  ...info,
  address: wallet.address,
  chainId,
  issuedAt: new Date(info.issuedAt),
  expirationTime: new Date(info.expirationTime),
})
const proof = {
  ...info,
  address: wallet.address,
  chainId: `eip155:${chainId}`,
  type: 'eip191',
  signature: await wallet.signMessage({ message }),
}
const shown = await fetch(copy.payment_url, { headers: { 'Sign-In-With-X': base64(proof) } })
const { state, result } = await shown.json()
console.log(state, JSON.stringify(result))
