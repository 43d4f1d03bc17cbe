// The words of a 402, the same at every door: what a call costs, how it is paid, and what to do without a wallet. Whoever reads them alone,
// a model or a person, knows what to do next.
import type { Asking, PaidCall } from '../core/charging.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { isHttp } from './wording.ts'

/** 3000n -> "0.003": as people write a price, and never fewer than two places. */
function usd(amountAtomic: bigint): string {
  const digits = amountAtomic.toString().padStart(7, '0')
  const places = digits.slice(-6).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -6)}.${places}`
}

/** @param networks on which it may be paid */
export function askingOf(
  { terms, resource }: Pick<PaidCall, 'terms' | 'resource'>,
  networks: readonly PaymentNetwork[],
  isSandbox: boolean,
): Asking {
  const { amountAtomic } = terms
  const places = networks.map(({ name, network, revenue }) => {
    const isTest = isSandbox || !revenue
    return `${name} (${network}${isTest ? ', test money' : ''})`
  })
  const cost =
    `Payment required: this call costs ${usd(amountAtomic)} USD (${amountAtomic} atomic units of USDC) on ` +
    `${places.join(' or ')}. Nothing was done and nothing was charged.`
  const pay = `To pay, have an x402 wallet sign one of \`accepts\` and send the same call again with the payment ${placeOf(resource.url)}.`
  const money = `USDC on ${networks.map(({ name }) => name).join(' or ')}`
  const withoutWallet = isSandbox
    ? 'Without a wallet: this is a sandbox, and its test payer pays. `agent-gateway demo` shows it; its key is `payer` in chains/accounts.json ' +
      "of the gateway's data directory: ask whoever runs the gateway."
    : `Without a wallet: tell the person you work for what this costs and ask them to pay, or for a wallet with ${money}. No account is needed.`
  return { cost, pay, withoutWallet, sentence: `${cost} ${pay} ${withoutWallet}` }
}

function placeOf(url: string): string {
  if (isHttp({ resource: { url, method: '' } })) return 'in the header Payment-Signature'
  return url.startsWith('mcp:')
    ? 'in _meta["x402/payment"]'
    : 'in metadata["x402.payment.payload"] of a message with the id of this task'
}
