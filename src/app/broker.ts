// Composition of what acts with a credential or on consent: accounts, egress, permits, inspection and the edge.
import { createAccounts } from '../accounts/index.ts'
import { createActions } from '../actions/index.ts'
import type { ActionParts } from '../actions/ports.ts'
import { createCommerce } from '../commerce/index.ts'
import { createRateLimiter } from '../core/rate-limit.ts'
import { createTxtResolvers } from '../edge/adapters/txt.ts'
import { MERCHANT_PER_MINUTE } from '../edge/admission.ts'
import { createEdge } from '../edge/index.ts'
import { collectYoung } from '../egress/adapters/collect.ts'
import { createVault } from '../egress/envelope.ts'
import { tryTls } from '../egress/adapters/tls-context.ts'
import { createEgress, type EgressParts } from '../egress/index.ts'
import type { Platform } from './platform.ts'
import type { Payments } from './payments.ts'

export type Broker = ReturnType<typeof createBroker>

/** Composes accounts, egress, permits, inspection and the edge, which share one policy and one ledger of attempts. */
export function createBroker(
  platform: Platform,
  { purchases }: Pick<Payments, 'purchases'>,
  {
    createLeakGate,
    messageHoldMs,
    onApproval,
    alerts,
  }: {
    readonly createLeakGate?: EgressParts['createLeakGate']
    readonly messageHoldMs?: EgressParts['messageHoldMs']
    readonly onApproval?: ActionParts['onApproval']
    readonly alerts?: EgressParts['alerts']
  } = {},
) {
  const { config, addresses, isSandbox, signer, deriveKey, hasSharedKey, policy, now } = platform
  const { baseUrl } = addresses
  const { creditsRequired } = purchases
  const { egressPorts, allowPrivateCidrs } = config
  const targets = { egressPorts, allowSandboxName: isSandbox, baseUrl }
  const idempotencyKey = deriveKey('idempotency-key')

  const egress = createEgress({
    ...platform,
    ...targets,
    vault: createVault(platform.authority),
    collectYoung,
    allowPrivateCidrs,
    tryTls,
    idempotencyKey,
    callerKeys: hasSharedKey ? deriveKey('idempotency-answers') : undefined,
    creditsRequired,
    alerts,
    askPeople: (held) => actions.ask(held),
    messageHoldMs,
    ...(createLeakGate && { createLeakGate }),
  })
  const actions = createActions({
    ...platform,
    ...targets,
    forward: egress.forward,
    verifyOwn: signer.verifyOwn,
    evidenceKey: deriveKey('permit-evidence'),
    ...(onApproval && { onApproval }),
    creditsRequired,
  })
  const commerce = createCommerce(platform)
  const edge = createEdge({
    ...platform,
    ...targets,
    runner: egress.runner,
    applyPolicy: egress.applyPolicy,
    readPolicy: commerce.readPolicy,
    txtResolvers: createTxtResolvers(config.dnsServers),
    addresses: policy,
    // All buyers of a merchant together are given no less than the figure for one of them; 0 is no limits at all.
    limiter: createRateLimiter(
      config.rateLimit && Math.max(config.rateLimit, MERCHANT_PER_MINUTE),
      platform.rates?.of('edge'),
    ),
    idempotencyKey,
    tokenKey: deriveKey('edge-account'),
    edgeName: config.edgeName ?? new URL(baseUrl).hostname,
  })
  const accounts = createAccounts({ store: platform.store, freeCredits: config.serviceKeyCredits, now })
  return { accounts, egress, actions, commerce, edge }
}
