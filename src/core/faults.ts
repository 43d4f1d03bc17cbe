// What goes wrong behind the calls, so that no answer tells of it: losses of money and of records, and work that the gateway does by itself
// and could not do. Each is an error of the log, with what it is about; here is only which kind it was, for whoever counts them.

/** Values of a label of a metric: add one freely, never rename one. */
export const FAULT_KINDS = [
  /** A payment that was settled is gone from its chain, and cannot be settled any more. */
  'payment_lost',
  /** The audit log is not what this gateway signed. */
  'audit_broken',
  /** A seller is owed more than the account of payouts holds, and stays owed. */
  'payout_underfunded',
  /** The credits of a call that failed could not be given back, however often that was tried. */
  'credits_kept',
  /** A refund or a payout stopped between two of its steps. */
  'transfer_interrupted',
  /** Pieces of tables could not be added ahead of their time. */
  'partitions_missing',
  /** A part of what is done every minute failed. */
  'upkeep_failed',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

/** Told of each, beside the log. Never throws. */
export type OnFault = (kind: FaultKind) => void

/** Where nobody counts them. */
export const uncounted: OnFault = () => {}
