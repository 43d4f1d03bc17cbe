// Says how long a transfer takes from its broadcast until it is in a block, by network. A token refuses a transfer whose block is
// later than its authorization allows, and its gas is gone all the same: so a payment has to live longer than that, when it is taken
// and once more when it is sent.

/** Seconds between two blocks, by CAIP-2 id. */
const BLOCK_SECONDS: Readonly<Record<string, number>> = {
  'eip155:1': 12,
  'eip155:10': 2,
  'eip155:137': 2,
  'eip155:1328': 1,
  'eip155:1329': 1,
  'eip155:2741': 1,
  'eip155:8453': 2,
  'eip155:11124': 1,
  'eip155:42161': 1,
  'eip155:43113': 2,
  'eip155:43114': 2,
  'eip155:80002': 2,
  'eip155:84532': 2,
}
/** Chains that an operator names are taken for slow ones. */
const SLOW_BLOCK_SECONDS = 12
/** The next block may be under way without it, so that it comes with the one after. */
const BLOCKS = 2
/** Between the check of a payment and its broadcast: its claim is written, and its chain is asked. */
const BEFORE_BROADCAST_SECONDS = 2
/** No payment is settled in less, wherever it is (the protocol's own implementation says the same). */
const LEAST_SECONDS = 6

/** Seconds that an authorization must have left when its transfer is broadcast. @param network CAIP-2 */
export const inclusionSeconds = (network: string): number =>
  BLOCKS * (network.startsWith('eip155:') ? (BLOCK_SECONDS[network] ?? SLOW_BLOCK_SECONDS) : 0)

/** Seconds that an authorization must have left when it is taken, where nothing is done before it is settled. @param network CAIP-2 */
export const settleSeconds = (network: string): number =>
  Math.max(LEAST_SECONDS, inclusionSeconds(network) + BEFORE_BROADCAST_SECONDS)
