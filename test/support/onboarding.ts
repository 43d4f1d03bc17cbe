// A seller as sellers are: an account on a chain that signs, a host that shows what it is told to, and a key.
import { privateKeyToAccount } from 'viem/accounts'
import type { TestGateway } from './gateway.ts'

/** Account of a seller, of tests alone. */
export const sellerAccount = privateKeyToAccount(`0x${'5e'.repeat(32)}`)

export const ownerships = async (...origins: string[]) =>
  Promise.all(origins.map((message) => sellerAccount.signMessage({ message })))

/** Registers a seller over REST. @returns its key */
export async function registerSeller(gw: TestGateway, seller: string, over: object = {}): Promise<string> {
  const answer = await gw.rest(
    'POST',
    '/v1/marketplace/sellers',
    { seller, name: `The ${seller} company`, payout_address: sellerAccount.address, ...over },
    '',
  )
  if (answer.status !== 201) throw new Error(`seller: ${answer.text}`)
  return answer.body.key
}

/** Publishes the challenge of a host in DNS and proves it. */
export async function proveHost(gw: TestGateway, key: string, origin: string): Promise<void> {
  const claimed = await gw.rest('POST', '/v1/marketplace/seller/hosts', { origin }, key)
  gw.dns.set(claimed.body.dns.name, { TXT: [claimed.body.dns.value] })
  const ownership_proofs = await ownerships(origin)
  const verified = await gw.rest(
    'POST',
    '/v1/marketplace/seller/hosts/verify',
    { origin, ownership_proofs },
    key,
  )
  if (!verified.body.proven) throw new Error(`host: ${verified.text}`)
}
