// What an operator is told where data of before is in use again: what is not in it, what was ended because of that, and what to do.
import type { Aftermath } from '../app/transfer/restore.ts'

/** @param when how long ago the data is from, and what it is from */
export function describeAftermath(
  { ended, living, settledLately, payoutsHeld }: Aftermath,
  { age, event }: { readonly age: string; readonly event: 'the backup' | 'the move' },
): readonly string[] {
  return [
    '',
    `What happened in those ${age} is not here:`,
    '- Keys, capabilities, credentials, passkeys and people that were revoked or removed since then work again, and limits count from then. Revoke them ' +
      `again before you start (${living.service_keys} service keys, ${living.capabilities} capabilities, ${living.people} people, ${living.signing_keys} signing keys are live).`,
    '- Credits that were spent since then are there again, and credits that were bought are not: give them with `credits grant`.',
    '- Calls under an Idempotency-Key made since then are not remembered: whoever repeats one has it carried out again.',
    `- Receipts, audit events and stored results made since then are gone. Receipts that were handed out still verify. The audit log goes on from ${event}.`,
    '- x402 payments made since then are spent on their chain, which refuses them a second time (where the gateway knows no chain, its facilitator does). Refunds sent since then are not known here: look at the chain ' +
      'before you refund anew.',
    '- Those payments are in no list: neither `payments reconcile` nor `payments refund` finds them. Compare what your accounts received on their chains since then with `payments list --state settled`; what is owed ' +
      'back for them you send by hand.',
    '- One of them that a reorganisation took back is not missed by anybody here: its receipt still verifies, and its signature, unused again, buys once more until it expires.',
    ...(settledLately > 0
      ? [
          `- ${settledLately} payments were settled in the last 15 minutes before ${event}. The start looks for each on its chain: one that a reorganisation took back since is open again ` +
            '(`payments list --state pending`, reason `reorganised`), and this process has no copy of it to send.',
        ]
      : []),
    '',
    'Ended, because it may have been used or done since:',
    `- ${ended.permits} open permits, ${ended.sessions} sessions, ${ended.invitations} invitations and ${ended.recovery_codes} recovery codes do not work; ` +
      `${ended.assistants} connected assistants have to connect again.`,
    `- ${ended.attempts_in_doubt} requests that were about to be sent count as sent (ambiguous, see \`attempts list\`); ${ended.payments_in_doubt} payments under way are ` +
      'decided by their chains at the start.',
    ...(payoutsHeld
      ? [
          `- Payouts to sellers are by hand (\`payouts.schedule\` in the document \`market\`), and ${ended.payout_batches} open batches are closed: those paid since then would be ` +
            'paid again. Compare with the chain, then set the schedule back.',
        ]
      : []),
  ]
}

export function describeAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} minutes`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 60 / 24)} days`
}
