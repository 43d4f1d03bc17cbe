// MPP: the calls of a signed transaction against the challenge. What cannot be read moves nothing here; what is read and not understood is
// for somebody to look at.
import { bind, isSameAddress, type Verdict } from '../compare.ts'
import { pickText } from '../decode/value.ts'
import type { Binding, Found } from '../ports.ts'
import type { MppChallenge } from './facts.ts'
import type { MppPayload } from './payload.ts'
import type { TransactionCall } from './transaction.ts'

export function bindTransaction(challenge: MppChallenge, payload: MppPayload, isSession: boolean): Binding[] {
  const { transaction } = payload
  if (transaction === null || !challenge.isRequestReadable) return []
  const { at, value } = transaction
  const say = (kind: Binding['kind'], verdict: Verdict, text: string, other = challenge.at) =>
    bind(kind, verdict, at, other, text)
  const found: Binding[] = []
  const { network, isNetworkAssumed } = challenge
  if (network !== null && network.value !== `eip155:${value.chainId}`)
    found.push(
      say(
        'offer',
        isNetworkAssumed ? 'partial' : 'mismatch',
        'The transaction is for another chain than the challenge.',
        network.at,
      ),
    )
  const escrow = pickText(challenge.details, 'escrowContract')
  for (const call of value.calls)
    found.push(
      ...(isSession ? bindDeposit(call, challenge, escrow, say) : bindTransfer(call, challenge, say)),
    )
  return [...found, ...(isSession ? [] : bindTotal(value.calls, challenge, say))]
}

type Say = (kind: Binding['kind'], verdict: Verdict, text: string, other?: string) => Binding

const is = (address: string | null, found: Found<string> | null) =>
  address !== null && found !== null && isSameAddress(address, found.value)

function bindTransfer(call: TransactionCall, challenge: MppChallenge, say: Say): Binding[] {
  if (call.does !== 'transfer')
    return [say('constraint', 'partial', 'The transaction does more than to transfer: somebody has to look.')]
  const { stated, recipient, splits } = challenge
  const found: Binding[] = []
  if (stated !== null && !is(call.to, stated))
    found.push(
      say('amount', 'mismatch', 'The transaction pays in another token than the currency.', stated.at),
    )
  const payees = [recipient, ...splits.map((split) => split.recipient)]
  if (recipient !== null && !payees.some((payee) => is(call.payee, payee)))
    found.push(
      say(
        'payee',
        'mismatch',
        'The transaction pays somebody whom the challenge does not name.',
        recipient.at,
      ),
    )
  return found
}

/** All transfers together are the amount, with the splits in it. */
function bindTotal(calls: readonly TransactionCall[], { amount }: MppChallenge, say: Say): Binding[] {
  if (amount?.isInteger !== true) return []
  const total = calls.reduce((sum, call) => sum + (call.does === 'transfer' ? (call.amount ?? 0n) : 0n), 0n)
  const due = BigInt(amount.value)
  if (total === due) return [say('amount', 'match', 'The transaction pays the amount.', amount.at)]
  const isLess = total < due
  return [
    say(
      'amount',
      isLess ? 'partial' : 'mismatch',
      isLess
        ? 'The transfers of the transaction are less than the amount.'
        : 'The transfers of the transaction are more than the amount.',
      amount.at,
    ),
  ]
}

/** A channel is opened or filled at the escrow, which may be approved for that. */
function bindDeposit(
  call: TransactionCall,
  { stated, recipient }: MppChallenge,
  escrow: Found<string> | null,
  say: Say,
): Binding[] {
  const other = escrow?.at
  switch (call.does) {
    case 'transfer':
      return [say('payee', 'mismatch', 'The transaction transfers tokens past the escrow.', other)]
    case 'approve':
      return escrow === null || is(call.payee, escrow)
        ? []
        : [
            say(
              'payee',
              'mismatch',
              'The transaction lets another address than the escrow draw tokens.',
              other,
            ),
          ]
    case 'deposit':
      return [
        ...(escrow === null || is(call.to, escrow)
          ? []
          : [say('payee', 'mismatch', 'The deposit goes to another contract than the escrow.', other)]),
        ...(call.payee === null || recipient === null || is(call.payee, recipient)
          ? []
          : [say('payee', 'mismatch', 'The channel that is opened pays somebody else.', recipient.at)]),
        ...(call.token === null || stated === null || is(call.token, stated)
          ? []
          : [say('amount', 'mismatch', 'The channel that is opened is of another token.', stated.at)]),
      ]
    default:
      // The precompile of v2 has calls of its own.
      return escrow !== null && is(call.to, escrow)
        ? []
        : [say('constraint', 'partial', 'The transaction calls another contract than the escrow.', other)]
  }
}
