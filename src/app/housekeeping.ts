// Work that no call asks for: once at the start, and then every minute for as long as the gateway runs.
import type { OpenAudit } from '../audit/index.ts'
import type { UpkeepWatch } from '../core/upkeep.ts'
import type { Debits } from '../core/debits.ts'
import type { OpenEgress } from '../egress/index.ts'
import type { EmailService } from '../email/index.ts'
import type { OpenPolicies } from '../policies/index.ts'
import type { Payouts } from '../market/money/payouts.ts'
import type { TrustUpkeep } from '../market/trust/upkeep.ts'
import type { Settlements } from '../payments/ports.ts'
import type { SellerUpkeep } from '../market/sellers/upkeep.ts'
import type { Refunds } from '../payments/refunds.ts'
import type { Platform } from './platform.ts'

const SWEEP_MS = 60_000

export interface Housekeeping {
  readonly audit: Pick<OpenAudit, 'settle'>
  readonly policies: Pick<OpenPolicies, 'settle'>
  readonly egress: Pick<OpenEgress, 'recover'>
  readonly debits: Pick<Debits, 'recover'>
  readonly settlements: Pick<Settlements, 'reconcile'>
  readonly refunds: Pick<Refunds, 'reconcile'>
  readonly payouts: Pick<Payouts, 'keep'>
  readonly figures: Pick<TrustUpkeep, 'begin' | 'keep'>
  readonly email: Pick<EmailService, 'prepare' | 'settle'>
  readonly sellers: SellerUpkeep
  /** Told of each part, for people who look at how it goes. */
  readonly upkeep: UpkeepWatch
}

/** @returns what stops it */
export function startHousekeeping(
  { log, store, now }: Pick<Platform, 'log' | 'store' | 'now'>,
  {
    audit,
    policies,
    egress,
    debits,
    settlements,
    refunds,
    payouts,
    figures,
    email,
    sellers,
    upkeep,
  }: Housekeeping,
): () => void {
  let isStopped = false
  // Payments that a crash left behind are decided by the chains, and nobody waits for those.
  void upkeep
    .run('settlements', () => settlements.reconcile())
    .catch((thrown: unknown) => {
      log.error({ err: thrown }, 'payments could not be reconciled')
    })
  void refunds.reconcile()
  void payouts.keep()
  void figures.begin()
  void upkeep
    .run('audit', () => audit.settle())
    .catch((thrown: unknown) => {
      if (!isStopped) log.error({ err: thrown }, 'the audit log could not be signed')
    })
  void upkeep
    .run('policies', () => policies.settle())
    .catch((thrown: unknown) => {
      if (!isStopped) log.error({ err: thrown }, 'the history of policies could not be written')
    })
  // Nobody is kept waiting for what email verification knows by name.
  void upkeep
    .run('email lists', () => email.prepare())
    .catch((thrown: unknown) => {
      if (!isStopped) log.error({ err: thrown }, 'email verification could not be prepared')
    })

  async function sweep(): Promise<void> {
    try {
      await upkeep.run('audit', () => audit.settle())
      await upkeep.run('policies', () => policies.settle())
      await upkeep.run('sweep', () => store.sweep(now()))
      await upkeep.run('attempts', () => egress.recover())
      await upkeep.run('debits', () => debits.recover())
      await upkeep.run('settlements', () => settlements.reconcile())
      await upkeep.run('refunds', () => refunds.reconcile())
      // A run over many sellers takes longer than a minute, and nothing else waits for it.
      void payouts.keep()
      void figures.keep()
      await upkeep.run('email', () => email.settle())
      sellers.round()
    } catch (thrown) {
      log.error({ err: thrown }, 'housekeeping failed')
    }
  }
  const timer = setInterval(() => void sweep(), SWEEP_MS)
  timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
