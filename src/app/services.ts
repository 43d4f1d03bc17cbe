// Everything a tool's handler may reach, and the call path in front of it.
import { createAudit } from '../audit/index.ts'
import { transactionPolicyDocument } from '../commerce/policy/document.ts'
import { egressPolicyDocument } from '../egress/policy.ts'
import { paymentPolicyDocument } from '../payments/policy.ts'
import { marketSettingsDocument } from '../market/settings.ts'
import { hideNames } from '../commerce/secrets/places.ts'
import { type CallPath, createCallPath } from '../core/call.ts'
import { budgetSpent } from '../egress/limits/budgets.ts'
import { createDebits } from '../core/debits.ts'
import { createRateLimiter } from '../core/rate-limit.ts'
import type { RefusalWatch } from '../core/refusal-watch.ts'
import { createJobs } from '../core/jobs.ts'
import type { Alerts } from '../core/alerts.ts'
import { createMailer } from '../notifications/adapters/smtp.ts'
import { createNotifications } from '../notifications/index.ts'
import type { OpenNotifications } from '../notifications/ports.ts'
import { approvalAlert } from '../actions/alert.ts'
import { watchSettlers } from '../notifications/settlers.ts'
import { createLiveEvents } from '../core/live-events.ts'
import { createUpkeepWatch } from '../core/upkeep.ts'
import { createRecentCalls } from '../core/recent-calls.ts'
import type { Registry } from '../core/registry.ts'
import type { Services } from '../../tools/services.ts'
import { createDocuments } from '../documents/index.ts'
import { type AddressPolicy, createAddressPolicy } from '../egress/address.ts'
import type { EgressParts } from '../egress/index.ts'
import { descriptorsIn } from '../outcomes/descriptors.ts'
import type { AnalyserLoad } from '../outcomes/ports.ts'
import { observeCalls } from '../telemetry/observe-calls.ts'
import { createIdentity } from '../identity/index.ts'
import { createSignCallReceipt } from '../receipts/call-receipt.ts'
import { createDocumentReader } from '../outbound/document.ts'
import { createVettedFetch, type VettedFetch } from '../outbound/fetch.ts'
import { createTargets, type TargetParts } from '../outbound/targets.ts'
import { createWebhookSender, type WebhookSender } from '../outbound/webhook.ts'
import { createPolicies } from '../policies/index.ts'
import { createReceipts } from '../receipts/index.ts'
import { createRenewReceipt } from '../receipts/renewal.ts'
import { createSigningKeys } from '../receipts/signing-keys.ts'
import { createTestBadges } from '../receipts/test-badges.ts'
import { createBroker } from './broker.ts'
import { createBackup } from './backup.ts'
import { createDoctor } from './doctor/index.ts'
import { openEmail } from './email.ts'
import type { MailTimes } from '../email/ports.ts'
import type { Platform } from './platform.ts'
import { createHealth } from './health.ts'
import type { Housekeeping } from './housekeeping.ts'
import type { Lifetime } from './lifetime.ts'
import type { Payments } from './payments.ts'
import type { ProxyRules } from './proxy.ts'
import { openMarketMoney } from './market-money.ts'
import type { Marketplace } from '../market/listings/ports.ts'
import { openMarket } from './market.ts'
import { openRuntimeSettings } from './runtime-settings.ts'
import { openReading, type ReadingTimes } from './reading.ts'

export interface OpenServices {
  readonly services: Services
  readonly calls: CallPath
  /** Pages that are read and wait. */
  readonly analyses: () => AnalyserLoad
  readonly housekeeping: Housekeeping
  /** Tells strangers what they asked to be told. */
  readonly webhooks: WebhookSender
  /** Lets go whoever waits for people. */
  readonly endWaits: () => void
  /** Told of what doors refuse by themselves. */
  readonly refusals: RefusalWatch
  /** What the proxy judges by, beside what the call path does. */
  readonly forProxy: ProxyRules
}

/** Composes the services of handlers and the call path, and settles first what a crash left behind. */
export async function openServices(
  platform: Platform,
  payments: Payments,
  registry: Registry,
  options: {
    readonly createLeakGate?: EgressParts['createLeakGate']
    readonly undocumented?: 'log' | 'fail'
    readonly times: {
      readonly messageHoldMs?: number
      readonly mail?: Partial<MailTimes>
      readonly reading?: ReadingTimes
    }
    /** On which it listens. */
    readonly port: number
  },
  lifetime: Lifetime,
): Promise<OpenServices> {
  const { config, store, log, now } = platform
  const { gate, networks, settlements } = payments
  const audit = createAudit({
    ...platform,
    ...platform.addresses,
    policies: [
      egressPolicyDocument,
      transactionPolicyDocument,
      paymentPolicyDocument,
      marketSettingsDocument,
    ],
  })
  lifetime.onClose(() => audit.close())
  const live = createLiveEvents()
  // What people are told goes out the one safe way, which the broker opens.
  let notifications: OpenNotifications | undefined
  const alerts: Alerts = { tell: (alert) => notifications?.alerts.tell(alert) }
  const { egress, ...broker } = createBroker(platform, payments, {
    ...options,
    messageHoldMs: options.times.messageHoldMs,
    alerts,
    onApproval(permit) {
      const { id, accountId, state, method, host } = permit
      live.publish({ accountId }, 'approval', { permit_id: id, state, method, host })
      if (state === 'pending_approval')
        alerts.tell({ kind: 'approval', accountId, about: id, data: approvalAlert(permit) })
    },
  })
  lifetime.onClose(() => egress.close())
  await egress.recover()
  const debits = createDebits({
    ...platform,
    sign: createSignCallReceipt({ ...platform, ...platform.addresses }),
    budgetSpent,
  })
  await debits.recover()
  const outside = {
    sender: platform.sender,
    target: { ports: config.egressPorts, allowSandboxName: platform.isSandbox },
    targets: createTargets({
      ...platform,
      allowSandboxName: platform.isSandbox,
      checkHost: egress.checkHost,
    }),
  }
  const webhooks = createWebhookSender(outside)
  const opened = createNotifications({
    ...platform,
    ...platform.addresses,
    webhooks,
    key: platform.deriveKey('notifications'),
    sign: platform.signer.signText,
    ...(config.smtp && {
      mailer: createMailer(config.smtp, platform.extraCa),
      recipients: config.smtp.recipients,
    }),
  })
  notifications = opened
  lifetime.onClose(() => opened.close())
  lifetime.onClose(watchSettlers(payments.router.states, alerts))
  const { email, findKey: findEmailKey } = openEmail(platform, egress, lifetime, options.times.mail)
  const { money, payouts } = openMarketMoney(platform, payments, lifetime)
  // Discovery lists what the market sells, and the market's own service reads what discovery's neighbours read.
  let market: Marketplace | undefined
  const soldOnMarket = async () => (await market?.sold()) ?? []
  const { analyser, ...reading } = openReading(
    platform,
    payments,
    egress,
    registry,
    soldOnMarket,
    lifetime,
    options.times.reading,
  )
  const { marketplace, ratings, marketCalls, figures, sellers, sellerUpkeep } = openMarket(
    platform,
    payments,
    { egress, webhooks, ...reading },
    lifetime,
  )

  market = marketplace
  const recentCalls = createRecentCalls({ now })
  const jobs = createJobs({ live, log, now })
  lifetime.onClose(() => jobs.close())
  const identity = createIdentity({
    ...platform,
    readDocument: createDocumentReader({ ...outside, userAgent: 'agent-gateway (client documents)' }),
    providerFetch: openProviderFetch(platform, outside, egress),
  })
  const upkeep = createUpkeepWatch({ now })
  const policies = createPolicies(platform)
  const settings = await openRuntimeSettings(platform)
  lifetime.onClose(() => settings.close())
  const services: Services = {
    ...broker,
    ...reading,
    identity,
    marketplace,
    ratings,
    marketCalls,
    money,
    sellers,
    audit,
    egress,
    email,
    payments: gate,
    facilitator: payments.facilitator,
    purchases: payments.purchases,
    refunds: payments.refunds,
    paymentRecords: payments.paymentRecords,
    testBadges: createTestBadges(platform),
    receipts: createReceipts({ store, renewReceipt: createRenewReceipt(platform.signer) }),
    signingKeys: createSigningKeys(platform),
    documents: createDocuments({
      ...platform,
      registry,
      capabilities: descriptorsIn(config.mode),
      providers: platform.providers.list(),
      isPayable: payments.payTo !== undefined && networks.find('eip155:8453') !== undefined,
      selling: {
        networks: networks.all,
        payTo: payments.payTo,
        startedAt: now(),
        isSandbox: platform.isSandbox,
      },
    }),
    health: createHealth({ ...platform, ...payments, analyser, startedAt: now() }),
    recentCalls,
    live,
    upkeep,
    jobs,
    doctor: createDoctor(platform, options.port),
    policies,
    notifications: opened,
    settings,
    backup: createBackup(platform),
  }
  const path = createCallPath({
    services,
    gate,
    store: {
      findKey: store.findKey,
      findCapability: store.findCapability,
      findEmailKey,
      findSession: store.findSession,
      async findAccessToken(tokenHash) {
        const found = await store.findAccessToken(tokenHash)
        if (found) identity.connections.used(found.connection.id)
        return found
      },
    },
    debits,
    creditsRequired: payments.purchases.creditsRequired,
    limiter: createRateLimiter(settings.callsPerMinute, platform.rates?.of('calls')),
    refusals: audit,
    watch: recentCalls,
    decisions: live,
    hideNames,
    log,
    now,
    elapsedMs: () => performance.now(),
    ...(options.undocumented && { undocumented: options.undocumented }),
  })
  const { telemetry } = platform
  const calls = telemetry
    ? observeCalls(telemetry, path, (network) => networks.find(network) !== undefined)
    : path
  return {
    services,
    calls,
    analyses: () => analyser.load(),
    webhooks,
    endWaits: () => broker.actions.endWaits(),
    refusals: audit,
    forProxy: {
      checkHost: egress.checkHost,
      callsPerMinute: () => settings.callsPerMinute(),
      watchRevocation: egress.watchRevocation,
    },
    housekeeping: {
      audit,
      policies,
      egress,
      debits,
      settlements,
      refunds: payments.refunds,
      payouts,
      figures,
      email,
      sellers: sellerUpkeep,
      upkeep,
    },
  }
}

/** The identity provider of an operator may be in the private ranges that they opened: it is they who name it. */
function openProviderFetch(
  platform: Platform,
  { sender, target }: Pick<Parameters<typeof createVettedFetch>[0], 'sender' | 'target'>,
  { checkHost }: Pick<TargetParts, 'checkHost'>,
): VettedFetch {
  const opened = createAddressPolicy(platform.config.allowPrivateCidrs)
  const reach: AddressPolicy = {
    classify(address) {
      const verdict = platform.policy.classify(address)
      return verdict.ok ? verdict : opened.classify(address)
    },
  }
  const targets = createTargets({ ...platform, policy: reach, allowSandboxName: false, checkHost })
  return createVettedFetch({ sender, target, targets, reach, partition: 'identity provider' })
}
