// Work that no call asks for: once at the start, and then every minute for as long as the gateway runs.
import type { OpenAudit } from '../audit/index.ts'
import { type OnFault, uncounted } from '../core/faults.ts'
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

type HousekeepingPlatform = Pick<Platform, 'log' | 'store' | 'now'> & { readonly onFault?: OnFault }

/** @returns what stops it */
export function startHousekeeping(
  { log, store, now, onFault = uncounted }: HousekeepingPlatform,
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
  /** One part that fails keeps no other from its turn. */
  async function keep(name: string, part: () => Promise<unknown>, failure: string): Promise<void> {
    try {
      await upkeep.run(name, part)
    } catch (thrown) {
      if (isStopped) return
      onFault('upkeep_failed')
      log.error({ err: thrown }, failure)
    }
  }
  const attempts = () => keep('attempts', () => egress.recover(), 'attempts could not be recovered')
  const openDebits = () => keep('debits', () => debits.recover(), 'debits could not be recovered')
  const payments = () =>
    keep('settlements', () => settlements.reconcile(), 'payments could not be reconciled')
  const givenBack = () => keep('refunds', () => refunds.reconcile(), 'refunds could not be reconciled')
  let isSigning = false
  /** Many chains may take longer than a minute, and a second round beside the first would ask for the same ones. */
  async function signed(): Promise<void> {
    if (isSigning) return
    isSigning = true
    await keep('audit', () => audit.settle(), 'the audit log could not be signed')
    isSigning = false
  }
  const history = () =>
    keep('policies', () => policies.settle(), 'the history of policies could not be written')

  // Payments that a crash left behind are decided by the chains, and nobody waits for those.
  void payments()
  void refunds.reconcile()
  void payouts.keep()
  void figures.begin()
  void signed()
  void history()
  // Nobody is kept waiting for what email verification knows by name.
  void keep('email lists', () => email.prepare(), 'email verification could not be prepared')

  async function giveBack(): Promise<void> {
    await attempts()
    await openDebits()
    await payments()
    await givenBack()
    // A run over many sellers takes longer than a minute, and nothing else waits for it.
    void payouts.keep()
    void figures.keep()
  }
  async function tidyUp(): Promise<void> {
    await signed()
    await history()
    await keep('sweep', () => store.sweep(now()), 'what is past its time could not be swept')
    await keep('email', () => email.settle(), 'the quotas of email verification could not be written')
    sellers.round()
  }
  const timer = setInterval(() => {
    // Whatever else goes wrong or takes long, money is given back.
    void giveBack()
    void tidyUp()
  }, SWEEP_MS)
  timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
