// Composition: adapters, services, call path, doors, listener. main.ts and the tests start the same gateway.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { tools as productTools } from '../../tools/index.ts'
import { createAccounts } from '../accounts/index.ts'
import { createActions } from '../actions/index.ts'
import { bootstrapOperator } from './bootstrap.ts'
import { createCallPath } from '../core/call.ts'
import type { Config } from '../core/config.ts'
import { createA2aDoor } from '../doors/a2a.ts'
import { createEdgeDoor, EDGE_PREFIX } from '../doors/edge.ts'
import { type HttpContext, type HttpHandler, httpContext, sendProblem } from '../doors/http.ts'
import type { Addresses } from '../core/config.ts'
import { refuseMalformed } from '../doors/malformed.ts'
import { createMcpDoor, type McpDoor } from '../doors/mcp.ts'
import { createRestDoor } from '../doors/rest.ts'
import { createCommerce } from '../commerce/index.ts'
import { hideNames } from '../commerce/secrets/places.ts'
import { createDocuments } from '../documents/index.ts'
import { createAddressPolicy } from '../egress/address.ts'
import { openAuthority } from '../egress/adapters/authority.ts'
import { createResolver } from '../egress/adapters/dns.ts'
import { createSender } from '../egress/adapters/undici.ts'
import { createVault } from '../egress/envelope.ts'
import { MERCHANT_PER_MINUTE } from '../edge/admission.ts'
import { createTxtResolvers } from '../edge/adapters/txt.ts'
import { createEdge } from '../edge/index.ts'
import { createEgress, type EgressParts } from '../egress/index.ts'
import { createMailDns } from '../email/adapters/dns.ts'
import { createKnowledgeReader } from '../email/adapters/knowledge.ts'
import { createListLoader } from '../email/adapters/list-loader.ts'
import { createMailboxVerifier } from '../email/adapters/verifier.ts'
import { createEmail } from '../email/index.ts'
import { rememberKeys } from '../email/known-keys.ts'
import { listProviders } from '../egress/providers.ts'
import { listSealingKeys } from '../egress/rotation.ts'
import { parseFault } from '../lib/fault-points.ts'
import { createHealth, observeResolver } from './health.ts'
import { createRateLimiter } from '../core/rate-limit.ts'
import { claimInstallation } from './installation.ts'
import type { Logger } from '../lib/log.ts'
import { descriptorsIn } from '../outcomes/descriptors.ts'
import { createAnalyserPool } from '../outcomes/adapters/pool.ts'
import { createOutcomes } from '../outcomes/index.ts'
import { createTargets } from '../outbound/targets.ts'
import { createQuotes } from '../payments/quotes.ts'
import { createPlainSender } from '../discovery/adapters/plain-http.ts'
import { createDiscovery } from '../discovery/index.ts'
import { createPayments } from './payments.ts'
import { readPaymentSetup } from './payment-settings.ts'
import { createReceipts } from '../receipts/index.ts'
import { openSigner } from '../receipts/adapters/signer.ts'
import { type AnyTool, createRegistry } from '../core/registry.ts'
import { openSandboxChains } from '../sandbox/chains.ts'
import { withSampleSite } from '../sandbox/sender.ts'
import { createSampleSite } from '../sandbox/site.ts'
import type { Services } from '../core/services.ts'
import { openDocumentStore, openStore } from '../store/index.ts'
import { createWebFetch } from '../webfetch/index.ts'

export interface Gateway {
  readonly addresses: Addresses
  readonly port: number
  /** The first service key, when this start generated it: to be shown once. */
  readonly generatedOperatorKey: string | undefined
  /** For a client in this process: `agent-gateway stdio` without a gateway to bridge to. */
  readonly mcp: Pick<McpDoor, 'stdio'>
  /** Stop accepting, finish what runs (at most `deadlineMs`), close the store. */
  close(deadlineMs?: number): Promise<void>
}

const DRAIN_MS = 35_000
const IDLE_CHECK_MS = 50
const MAX_HEADER_BYTES = 16 * 1024
const SWEEP_MS = 60_000

/**
 * For a request to arrive: a sender that dribbles holds a connection and what it sent so far. Node looks for them once an
 * interval, so they live that much longer.
 */
const TIMEOUTS = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 }
/** Nothing sent or taken for this long: nobody is there. Calls end within 30 s, and streams say something every 15 s. */
const SILENCE_MS = 120_000

/** For tests and benchmarks; none of it is configuration. */
export interface GatewayOptions {
  /** Replaces the product's tools. */
  readonly tools?: readonly AnyTool[]
  readonly now?: () => number
  /** PEM of authorities that outbound TLS trusts besides the default ones. */
  readonly extraCa?: readonly string[]
  readonly createLeakGate?: EgressParts['createLeakGate']
  /** In milliseconds. */
  readonly timeouts?: Partial<typeof TIMEOUTS> & { readonly silence?: number }
}

export async function startGateway(
  config: Config,
  log: Logger,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const now = options.now ?? Date.now
  const bootId = randomUUID()
  const fault = parseFault(config.fault)
  const { settlerKey, warnings } = await readPaymentSetup(config)
  for (const warning of warnings) log.warn(`payments: ${warning}`)
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })

  // The port is bound first: with PORT=0 every generated document needs to know it.
  let handle: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => {
    res.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end()
  }
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 65_000, ...TIMEOUTS, ...options.timeouts },
    (req, res) => handle(req, res),
  )
  server.timeout = options.timeouts?.silence ?? SILENCE_MS
  await listen(server, config.port, config.host)
  const port = (server.address() as AddressInfo).port
  const addresses = addressesOf(config, port)
  server.on('clientError', refuseMalformed(addresses.baseUrl))

  const store = await openStore({ config, log, bootId })
  const documentStore = await openDocumentStore({ config, log })
  await claimInstallation(documentStore, config)
  const authority = await openAuthority({
    file: config.authorityKeyFile,
    sealedTo: await listSealingKeys(store),
    now,
  })
  const signer = await openSigner({ file: join(config.dataDir, 'signing.jwk'), store, now })
  const outside = createSender({ fault, ...(options.extraCa && { ca: options.extraCa }) })
  const sender =
    config.mode === 'sandbox'
      ? withSampleSite(outside, createSampleSite(now), (ca) => createSender({ fault, ca: [ca] }))
      : outside
  const resolver = observeResolver(createResolver(config.dnsServers), config.dnsServers, now)

  const policy = createAddressPolicy(config.allowPrivateCidrs)
  const accounts = createAccounts({ store, freeCredits: config.serviceKeyCredits, now })
  const generatedOperatorKey = await bootstrapOperator({ config, store, log, now })
  const egress = createEgress({
    store,
    documents: documentStore,
    resolver,
    sender,
    vault: createVault(authority),
    authority,
    policy,
    signer,
    idempotencyKey: signer.deriveKey('idempotency-key'),
    addresses,
    // Made below: the chains behind it need not be up before attempts can be recovered.
    creditsRequired: (refusal) => payments.purchases.creditsRequired(refusal),
    allowSandboxName: config.mode === 'sandbox',
    egressPorts: config.egressPorts,
    bootId,
    now,
    log,
    fault,
    ...(options.createLeakGate && { createLeakGate: options.createLeakGate }),
  })
  await egress.recover()
  const actions = createActions({
    store,
    forward: egress.forward,
    signer,
    verifyOwn: signer.verifyOwn,
    creditsRequired: (refusal) => payments.purchases.creditsRequired(refusal),
    egressPorts: config.egressPorts,
    allowSandboxName: config.mode === 'sandbox',
    baseUrl: addresses.baseUrl,
    now,
  })
  const commerce = createCommerce({ documents: documentStore, log, now })
  const edge = createEdge({
    store,
    runner: egress.runner,
    applyPolicy: egress.applyPolicy,
    readPolicy: commerce.readPolicy,
    txtResolvers: createTxtResolvers(config.dnsServers),
    resolver,
    addresses: policy,
    signer,
    // All buyers of a merchant together are given no less than the figure for one of them; 0 is no limits at all.
    limiter: createRateLimiter(config.rateLimit && Math.max(config.rateLimit, MERCHANT_PER_MINUTE)),
    idempotencyKey: signer.deriveKey('idempotency-key'),
    tokenKey: signer.deriveKey('edge-account'),
    edgeName: config.edgeName ?? new URL(addresses.baseUrl).hostname,
    egressPorts: config.egressPorts,
    allowSandboxName: config.mode === 'sandbox',
    baseUrl: addresses.baseUrl,
    bootId,
    now,
    log,
    fault,
  })

  const verifierUrl = config.emailVerifierUrl
  const lists = createListLoader({ dataDir: config.dataDir })
  const emailKeys = rememberKeys(store, now)
  const email = createEmail({
    store,
    dns: createMailDns(config.dnsServers),
    // Whatever was opened for requests: mail does not arrive at a private address.
    addresses: createAddressPolicy([]),
    mailbox:
      verifierUrl === undefined
        ? undefined
        : createMailboxVerifier({ url: verifierUrl, resolver, sender, policy, checkHost: egress.checkHost }),
    readKnowledge: createKnowledgeReader({
      dataDir: config.dataDir,
      loadLists: lists.load,
      documents: documentStore,
      report: (problem) => log.warn(problem),
      now,
    }),
    dailyQuota: config.emailDailyQuota,
    areKeysLimited: config.rateLimit !== 0,
    forgetKey: emailKeys.forget,
    now,
    elapsedMs: () => performance.now(),
  })

  const embedded =
    config.mode === 'sandbox' ? await openSandboxChains({ dataDir: config.dataDir, log, now }) : undefined
  const payments = createPayments({
    config,
    store,
    documents: documentStore,
    signer,
    verifyOwn: signer.verifyOwn,
    presentationKey: signer.deriveKey('payment-presentation'),
    embedded,
    settlerKey,
    extraCa: options.extraCa,
    baseUrl: addresses.baseUrl,
    bootId,
    now,
    log,
    fault,
  })

  // What a crash left behind is decided by the chains, and nobody waits for those.
  void payments.settlements.reconcile().catch((thrown: unknown) => {
    log.error({ err: thrown }, 'payments could not be reconciled')
  })

  const registry = createRegistry(options.tools ?? productTools, config, now())
  const documents = createDocuments({
    registry,
    addresses,
    config,
    capabilities: descriptorsIn(config.mode),
    providers: listProviders(),
    isPayable: payments.payTo !== undefined && payments.networks.find('eip155:8453') !== undefined,
  })
  const outbound = { resolver, sender, policy, payTo: payments.payTo, baseUrl: addresses.baseUrl, now }
  const webFetch = createWebFetch({
    ...outbound,
    config,
    networks: payments.networks,
    router: payments.router,
    signer,
    verifyOwn: signer.verifyOwn,
    checkHost: egress.checkHost,
    store,
  })
  const discovery = createDiscovery({
    ...outbound,
    plainSender: createPlainSender(),
    checkHost: egress.checkHost,
    config,
    registry,
    networks: payments.networks,
    store,
    log,
  })
  const isSandbox = config.mode === 'sandbox'
  const analyser = createAnalyserPool()
  const outcomes = createOutcomes({
    targets: createTargets({ ...outbound, checkHost: egress.checkHost, allowSandboxName: isSandbox }),
    sender,
    analyser,
    quotes: createQuotes({
      signer,
      verifyOwn: signer.verifyOwn,
      payTo: payments.payTo,
      baseUrl: addresses.baseUrl,
      isSandbox,
      now,
    }),
    baseUrl: addresses.baseUrl,
    rules: { ports: config.egressPorts, allowSandboxName: isSandbox },
    feedSources: config.feedSources,
    now,
  })
  const services: Services = {
    egress,
    actions,
    edge,
    commerce,
    email,
    accounts,
    receipts: createReceipts({ store }),
    documents,
    outcomes,
    payments: payments.gate,
    facilitator: payments.facilitator,
    webFetch,
    purchases: payments.purchases,
    discovery,
    health: createHealth({
      config,
      store,
      resolver,
      router: payments.router,
      chains: payments.chains,
      analyser,
      startedAt: now(),
      now,
    }),
  }
  const calls = createCallPath({
    services,
    gate: payments.gate,
    store: {
      findKey: store.findKey,
      findCapability: store.findCapability,
      findEmailKey: emailKeys.find,
    },
    limiter: createRateLimiter(config.rateLimit),
    hideNames,
    log,
    now,
  })
  const parts = {
    registry,
    calls,
    payments: payments.gate,
    config,
    addresses,
    documents,
    store,
    signer,
    log,
    now,
  }
  const mcp = createMcpDoor(parts)
  const a2a = await createA2aDoor(parts)
  const rest = createRestDoor(parts)
  const edgeDoor = createEdgeDoor(parts)

  handle = (req, res) => {
    const context = httpContext(req, config.trustProxy)
    void answer(doorFor(context.path), req, res, context)
  }
  async function answer(
    door: HttpHandler,
    req: IncomingMessage,
    res: ServerResponse,
    context: HttpContext,
  ): Promise<void> {
    try {
      await door(req, res, context)
    } catch (thrown) {
      log.error({ request_id: context.requestId, err: thrown }, 'door failed')
      sendProblem(res, thrown, context, addresses)
    }
  }
  function doorFor(path: string): HttpHandler {
    if (path === '/mcp') return mcp.http
    if (path === '/a2a' || path.startsWith('/a2a/')) return a2a.http
    if (path === '/.well-known/agent-card.json' || path === '/.well-known/agent.json') return a2a.card
    if (edgeDoor && path.startsWith(EDGE_PREFIX)) return edgeDoor
    return rest.http
  }

  let closing: Promise<void> | undefined
  // In the background, once requests are served: nobody is kept waiting for what email verification knows by name.
  void email.prepare().catch((thrown: unknown) => {
    if (!closing) log.error({ err: thrown }, 'email verification could not be prepared')
  })

  const housekeeping = setInterval(() => {
    void (async () => {
      try {
        await store.sweep(now())
        await egress.recover()
        await payments.settlements.reconcile()
        await email.settle()
      } catch (thrown) {
        log.error({ err: thrown }, 'housekeeping failed')
      }
    })()
  }, SWEEP_MS)
  housekeeping.unref()

  async function shutDown(deadlineMs: number): Promise<void> {
    clearInterval(housekeeping)
    calls.drain()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    await Promise.all([mcp.close(), a2a.close()])
    // A connection that delivers its last answer now would stay open for the next request: closed as it falls idle.
    const reaper = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
    await closed
    clearInterval(reaper)
    clearTimeout(deadline)
    // A caller that went away does not end its attempt: wait for those too before the store closes.
    for (const end = Date.now() + deadlineMs; calls.inFlight > 0 && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 20))
    await payments.close()
    await discovery.close()
    await analyser.close()
    await lists.close()
    await embedded?.close()
    await sender.close()
    await documentStore.close()
    await email.settle('all')
    await store.close()
  }
  return {
    addresses,
    port,
    generatedOperatorKey,
    mcp,
    close: (deadlineMs = DRAIN_MS) => (closing ??= shutDown(deadlineMs)),
  }
}

function addressesOf(config: Config, port: number): Addresses {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const baseUrl = config.baseUrl ?? `http://${host}:${port}`
  return { baseUrl, siteUrl: config.siteUrl ?? baseUrl, mcpUrl: config.mcpUrl ?? `${baseUrl}/mcp` }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
