// Whether money may be sent to an address. What can be told from the text is refused; what only a chain knows is said, because it
// may change, and a payout that fails is kept as owed.
import { GatewayError } from '../../core/errors.ts'
import type { Networks } from '../../core/networks.ts'
import { type AccountFacts, type Chain, ChainError } from '../../payments/chain-ports.ts'
import { toChecksum } from './hex.ts'

export interface PayoutRules {
  readonly networks: Networks
  /** Addresses of this gateway, lower case: what is paid to, settles and refunds. */
  readonly own: readonly string[]
}

const MAX_PRECOMPILE = 0xffffn

/**
 * The address in lower case.
 * @throws {GatewayError} input_invalid
 */
export async function readPayoutAddress(text: string, { networks, own }: PayoutRules): Promise<string> {
  const refuse = (message: string) =>
    new GatewayError('input_invalid', `/payout_address: ${message}`, {
      extras: { fields: [{ pointer: '/payout_address', message }] },
    })
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw refuse('is no address: 0x and 40 hex digits')
  const address = text.toLowerCase()
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && (await toChecksum(text)) !== text)
    throw refuse('does not have the checksum that its capitals say (EIP-55): a character is wrong')
  if (BigInt(address) <= MAX_PRECOMPILE) throw refuse('belongs to nobody: money sent there is gone')
  if (networks.all.some(({ asset }) => asset.address.toLowerCase() === address))
    throw refuse('is the USDC contract itself: money sent there is gone')
  if (own.includes(address)) throw refuse('belongs to this gateway, which would pay itself')
  return address
}

/** What the chain says of the address, in sentences; never a reason to refuse. */
export async function describePayoutAddress(
  address: string,
  chain: Pick<Chain, 'accountFacts'> | undefined,
): Promise<string[]> {
  if (!chain) return []
  let facts: AccountFacts
  try {
    facts = await chain.accountFacts(address)
  } catch (thrown) {
    if (!(thrown instanceof ChainError)) throw thrown
    return ['The chain did not answer, so nothing is known of this address yet.']
  }
  return [
    ...(facts.isBlacklisted
      ? [
          'USDC refuses transfers to this address (it is blacklisted): what you are owed stays owed until you name another.',
        ]
      : []),
    ...(facts.hasCode
      ? [
          'There is a contract at this address: make sure that it can move USDC, and that it signs by ERC-1271.',
        ]
      : []),
  ]
}
