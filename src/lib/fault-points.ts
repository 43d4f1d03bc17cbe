// Fault injection for the crash suites: GATEWAY_FAULT=point:kill|throw|delay, or point:kill:2 for the second time only.
// Production refuses the variable (config.ts) and waits for nothing at the same points, so that what is killed in a test is
// the path that runs in earnest.

export interface Fault {
  /** Awaited at each named point, on the one path there is; does nothing unless this point was asked for. */
  at(point: FaultPoint): Promise<void>
}

/** The points of one egress attempt, in order. */
export const EGRESS_POINTS = [
  'before_reserve',
  'after_reserve',
  'after_resolve',
  'before_sending',
  'after_sending',
  'after_decrypt',
  'before_connect',
  'after_request',
  'after_headers',
  'after_response',
  'before_finish',
  'after_finish',
  'before_reply',
] as const

/** The points of one exchange of a credential for a token, in order; those of the request to the token endpoint lie between the first two. */
export const EXCHANGE_POINTS = ['before_exchange', 'after_exchange', 'after_token_stored'] as const

/** The points of one x402 payment, in order. */
export const PAYMENT_POINTS = [
  'before_claim',
  'after_claim',
  'after_work',
  'after_submitted',
  'before_broadcast',
  'after_broadcast',
  'after_mined',
  'after_settled',
  'before_release',
] as const

/** The point of one refund between its row and its first submission; those of a payment come after it. */
export const REFUND_POINTS = ['after_refund_recorded'] as const

/** The points of one run of payouts: a payout between its row and its first submission, and the end of a page of sellers. */
export const PAYOUT_POINTS = ['after_payout_recorded', 'after_payout_page'] as const

/** The points of one call that the call path takes credits for, in order. */
export const DEBIT_POINTS = ['before_debit', 'after_debit', 'before_receipt', 'after_receipt'] as const

/** The points of one rotation of the signing key, in order. */
export const ROTATION_POINTS = ['after_key_published', 'after_key_switched', 'after_key_retired'] as const

/** The points of one rotation of the wrapping authority, in order. */
export const AUTHORITY_POINTS = [
  'after_rotation_begun',
  'after_authority_key',
  'after_rewrap_batch',
  'after_authority_retired',
  'after_authority_dropped',
] as const

/** The points at which a backup, a restore or a migration of data is done but for its last step, and after that step. */
export const TRANSFER_POINTS = ['after_backup_written', 'after_rows_loaded', 'after_rows_committed'] as const

export const FAULT_POINTS = [
  ...EGRESS_POINTS,
  ...EXCHANGE_POINTS,
  ...PAYMENT_POINTS,
  ...REFUND_POINTS,
  ...PAYOUT_POINTS,
  ...DEBIT_POINTS,
  ...ROTATION_POINTS,
  ...AUTHORITY_POINTS,
  ...TRANSFER_POINTS,
] as const
export type FaultPoint = (typeof FAULT_POINTS)[number]

const PASSED = Promise.resolve()
/** A call passes ten points, so all of them give the same promise. */
export const noFault: Fault = { at: () => PASSED }

/** @throws on an unknown point or action, naming the choices */
export function parseFault(text: string | undefined): Fault {
  if (text === undefined) return noFault
  const [point, action, nth] = text.split(':')
  if (
    !FAULT_POINTS.includes(point as FaultPoint) ||
    !['kill', 'throw', 'delay'].includes(action ?? '') ||
    !/^[1-9]?$/.test(nth ?? '')
  )
    throw new Error(`GATEWAY_FAULT: use <point>:kill|throw|delay with one of ${FAULT_POINTS.join(', ')}`)
  let times = 0
  return {
    async at(reached) {
      if (reached !== point) return
      if (nth !== undefined && ++times !== Number(nth)) return
      if (action === 'kill') {
        process.kill(process.pid, 'SIGKILL')
        await new Promise(() => {})
      }
      if (action === 'throw') throw new Error(`fault injected at ${point}`)
      await new Promise((resolve) => setTimeout(resolve, 1000))
    },
  }
}
