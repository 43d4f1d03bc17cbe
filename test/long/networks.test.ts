// Every network that can be configured, each on a chain of its own id: the seven that USDC is known on with its code at the
// address that is known, and one that the operator named. Stock clients buy and settle, and know the domain from the offer.
import { x402Client } from '@x402/core/client'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/core/errors.ts'
import { createNetworks, KNOWN_NETWORKS, type PaymentNetwork } from '../../src/core/networks.ts'
import { requirementsOf, startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createPaidTools, PAID, PRICE } from '../support/paid-tools.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'
/** The chains that a sandbox would start itself are kept off. */
const NONE = { GATEWAY_RPC_8453: 'http://127.0.0.1:1', GATEWAY_RPC_84532: 'http://127.0.0.1:1' }

let chain: TestChain | undefined
let gateway: TestGateway | undefined
afterEach(async () => {
  await gateway?.close()
  await chain?.close()
})

/** Signs for another seller's offer as its buyer does, and asks this gateway to settle as its seller does. */
async function settleFor(seller: string, on: TestChain, at: TestGateway, client: x402Client) {
  const requirements = { ...requirementsOf(on), payTo: seller } as PaymentRequirements
  const offer = {
    x402Version: 2,
    resource: { url: 'https://seller.example/data' },
    accepts: [requirements],
  } as PaymentRequired
  const payment: PaymentPayload = await client.createPaymentPayload(offer)
  const facilitator = new HTTPFacilitatorClient({ url: at.baseUrl })
  const { kinds } = await facilitator.getSupported()
  expect(kinds).toContainEqual(
    expect.objectContaining({ x402Version: 2, scheme: 'exact', network: on.network.network }),
  )
  expect(await facilitator.verify(payment, requirements)).toMatchObject({ isValid: true })
  const before = await on.usdcOf(seller)
  expect(await facilitator.settle(payment, requirements)).toMatchObject({
    success: true,
    network: on.network.network,
  })
  expect((await on.usdcOf(seller)) - before).toBe(1000n)
}

/** As it comes out of its package, unless its owner has to allow an asset. */
function buyer(account: PrivateKeyAccount, allowed?: PaymentNetwork): x402Client {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  if (!allowed) return client
  const network = `eip155:${allowed.chainId}` as const
  return client.setSpendControls({ allowedAssets: [{ network, asset: allowed.asset.address }] })
}
/** The packages do not know the USDC of OP Mainnet, and pay nothing that they do not know until they are told to. */
const UNKNOWN_TO_CLIENTS = ['eip155:10']

describe.each(KNOWN_NETWORKS.map((network) => [network.name, network] as const))('%s', (_name, network) => {
  const allowed = UNKNOWN_TO_CLIENTS.includes(network.network) ? network : undefined

  it('sells to a stock client, in the USDC that is known there', async () => {
    const [on, tools] = [await startTestChain(network.chainId), createPaidTools(network.network)]
    chain = on
    const at = await startTestGateway({ env: { ...NONE, ...on.env }, tools: tools.tools })
    gateway = at
    const [payer] = on.payers
    if (!payer) throw new Error('a test chain has payers')

    const pay = wrapFetchWithPayment(fetch, buyer(payer, allowed))
    const answer = await pay(at.baseUrl + PAID, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'hello' }),
    })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ text: 'hello' })])
    expect(await on.usdcOf(on.payTo)).toBe(PRICE)
    expect(tools.runs).toEqual(['hello'])
  })

  it('settles for another seller, in the USDC that is known there', async () => {
    const on = (chain = await startTestChain(network.chainId))
    const at = (gateway = await startTestGateway({ env: { ...NONE, ...on.env } }))
    const [payer] = on.payers
    if (!payer) throw new Error('a test chain has payers')
    await settleFor(SELLER, on, at, buyer(payer, allowed))
  })
})

describe('a chain that the operator named', () => {
  const CHAIN_ID = 59144
  const NAME = 'Bridged USDC (Linea)'
  const address = '0x176211869cA2b568f2A7D4EE941E073a821EE1ff'
  const named = (decimals: number) => {
    const [network] = createNetworks([CHAIN_ID], [{ chainId: CHAIN_ID, address, revenue: true }]).all
    if (!network) throw new Error('a named network is there')
    return { ...network, asset: { address, name: NAME, version: '2', decimals } }
  }
  const envOf = (on: TestChain) => ({
    ...NONE,
    ...on.env,
    GATEWAY_PAYMENT_ASSETS: `eip155:${CHAIN_ID}/erc20:${address.toLowerCase()}=real`,
  })

  it('settles for another seller in its token, whose name it read from the chain, and sells nothing of its own', async () => {
    const on = (chain = await startTestChain(CHAIN_ID, { network: named(6) }))
    const at = (gateway = await startTestGateway({ env: envOf(on) }))
    const [payer] = on.payers
    if (!payer) throw new Error('a test chain has payers')
    await settleFor(SELLER, on, at, buyer(payer, on.network))

    const { networks } = (await at.rest('GET', '/facilitator', undefined, '')).body
    expect(networks).toEqual([
      {
        network: `eip155:${CHAIN_ID}`,
        v1_name: null,
        name: `chain ${CHAIN_ID}`,
        revenue: false,
        asset: { address, name: NAME, version: '2', decimals: 6 },
      },
    ])
    const listed = (await at.rest('GET', '/discovery/resources?limit=100', undefined, '')).text
    expect(listed).not.toContain(address)
    expect((await at.rest('POST', '/v1/credits/purchase', { credits: 1 })).status).toBe(503)
  })

  it('does not believe a buyer who signs for another name of the token', async () => {
    const on = (chain = await startTestChain(CHAIN_ID, { network: named(6) }))
    const at = (gateway = await startTestGateway({ env: envOf(on) }))
    const requirements = { ...requirementsOf(on), payTo: SELLER, extra: { name: 'USD Coin', version: '2' } }
    const [payer] = on.payers
    if (!payer) throw new Error('a test chain has payers')
    const client = buyer(payer).setSpendControls(false)
    const offer = { x402Version: 2, resource: { url: 'https://seller.example/' }, accepts: [requirements] }
    const paymentPayload = await client.createPaymentPayload(offer as PaymentRequired)
    const body = { x402Version: 2, paymentPayload, paymentRequirements: requirements }
    expect((await at.rest('POST', '/verify', body, '')).body).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_evm_token_name_mismatch',
    })
  })

  it('keeps the gateway from starting where its token counts otherwise', async () => {
    const on = (chain = await startTestChain(CHAIN_ID, { network: named(18) }))
    gateway = undefined
    const thrown = await startTestGateway({ env: envOf(on) }).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ConfigError)
    expect((thrown as ConfigError).problems).toEqual([
      expect.stringMatching(/^GATEWAY_PAYMENT_ASSETS \(chain 59144\): .* has 18 decimals/),
    ])
  })
})
