// The services that handlers of this house may reach, and the definer of its tools. The composition builds the real services,
// tests build what they need.
import type { MarketService } from '../schemas/market.ts'
import type { RuntimeSettings } from '../schemas/settings.ts'
import { toolDefiner } from '../src/core/registry.ts'
import type { RecentCalls } from '../src/core/call-watch.ts'
import type { Jobs, Report } from '../src/core/jobs.ts'
import type { LiveEvents } from '../src/core/live-events.ts'
import type { Upkeep } from '../src/core/upkeep.ts'
import type { PaymentGate } from '../src/core/charging.ts'
import type { Egress } from '../src/egress/ports.ts'
import type { Actions } from '../src/actions/ports.ts'
import type { Edge } from '../src/edge/ports.ts'
import type { Commerce } from '../src/commerce/ports.ts'
import type { Email } from '../src/email/ports.ts'
import type { Audit } from '../src/audit/ports.ts'
import type { Accounts } from '../src/accounts/ports.ts'
import type { Notifications } from '../src/notifications/ports.ts'
import type { Identity } from '../src/identity/index.ts'
import type { Policies } from '../src/policies/ports.ts'
import type { Receipts, SigningKeys } from '../src/receipts/ports.ts'
import type { TestBadges } from '../src/receipts/test-badges.ts'
import type { Outcomes } from '../src/outcomes/ports.ts'
import type { Facilitator } from '../src/payments/ports.ts'
import type { Purchases } from '../src/payments/purchases.ts'
import type { PaymentRecords } from '../src/payments/records.ts'
import type { Refunds } from '../src/payments/refunds.ts'
import type { WebFetch } from '../src/webfetch/ports.ts'
import type { Sellers } from '../src/market/sellers/ports.ts'
import type { Discovery } from '../src/discovery/ports.ts'
import type { MarketCalls } from '../src/market/calls/ports.ts'
import type { MarketMoney } from '../src/market/money/ports.ts'
import type { Marketplace } from '../src/market/listings/ports.ts'
import type { Ratings } from '../src/market/trust/ratings.ts'

/** Documents generated from the registry (catalogue, manifest, protocols …), as plain JSON. */
export interface Documents {
  catalogue(): Record<string, unknown>
  /** @throws {GatewayError} not_found */
  capability(id: string): Record<string, unknown>
  protocols(): Record<string, unknown>
  actionsManifest(): Record<string, unknown>
  actionsPricing(): Record<string, unknown>
  egressManifest(): Record<string, unknown>
  egressPricing(): Record<string, unknown>
  egressProviders(): Record<string, unknown>
  /** @param onMarket what is sold on the market now */
  x402(onMarket?: readonly MarketService[]): Record<string, unknown>
}

export interface Health {
  report(): Promise<Record<string, unknown>>
}

/** One line of the doctor: what was looked at, how it is, and what to do when it is not well. */
export interface DoctorFinding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly check: string
  readonly says: string
  readonly todo?: string
}

export interface Doctor {
  /** Looks at everything that a start or a call needs; takes seconds. */
  examine(): Promise<readonly DoctorFinding[]>
}

/** A backup that was made. */
export interface BackupMade {
  /** Name in the folder `backups` of the data directory. */
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  readonly rows: number
}

export interface Backup {
  describe(): Promise<{
    /** Files of keys: in no backup, and needed by every restore. */
    readonly keys: readonly string[]
    /** Of the database now; null where it is not a file. */
    readonly bytes: number | null
  }>
  /** Copies what is committed now, while calls go on. @throws {GatewayError} state_conflict */
  make(report: Report, signal: AbortSignal): Promise<BackupMade>
  /**
   * Opens a backup that was made, and writes down who takes it.
   * @param by id of the person
   * @throws {GatewayError} not_found
   */
  open(
    file: string,
    by: string,
  ): Promise<{ readonly size: number; readonly content: AsyncIterable<Uint8Array> }>
}

/** Settings that people change while the gateway runs. */
export interface RuntimeSettingsService {
  read(): Promise<RuntimeSettings>
  /**
   * @param by id of who changes them
   * @throws {GatewayError} state_conflict where a document was changed or broken by hand meanwhile
   */
  change(
    change: {
      readonly egress_paused?: boolean | undefined
      readonly log_level?: RuntimeSettings['log_level'] | undefined
      readonly calls_per_minute?: number | null | undefined
    },
    by: string,
  ): Promise<RuntimeSettings>
}

export interface Services {
  readonly egress: Egress
  readonly actions: Actions
  readonly edge: Edge
  readonly commerce: Commerce
  readonly email: Email
  readonly accounts: Accounts
  readonly identity: Identity
  readonly audit: Audit
  readonly receipts: Receipts
  readonly testBadges: TestBadges
  readonly signingKeys: SigningKeys
  readonly documents: Documents
  readonly outcomes: Outcomes
  readonly payments: Pick<PaymentGate, 'claim'>
  readonly facilitator: Facilitator
  readonly webFetch: WebFetch
  readonly purchases: Purchases
  readonly refunds: Refunds
  readonly paymentRecords: PaymentRecords
  readonly discovery: Discovery
  readonly marketplace: Marketplace
  readonly ratings: Ratings
  readonly marketCalls: MarketCalls
  readonly money: MarketMoney
  readonly sellers: Sellers
  readonly health: Health
  readonly recentCalls: RecentCalls
  readonly policies: Policies
  readonly notifications: Notifications
  /** News for people who look on. */
  readonly live: LiveEvents
  readonly upkeep: Upkeep
  readonly jobs: Jobs
  readonly doctor: Doctor
  readonly settings: RuntimeSettingsService
  readonly backup: Backup
}

/** Defines a tool of this house: its handler reaches the services above, and a caller of the kind that it asks for. */
export const defineTool = toolDefiner<Services>()
