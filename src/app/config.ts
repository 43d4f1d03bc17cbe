// Environment -> frozen Config. Pure, reports every problem at once, and the only reader of environment variables.
import { join, resolve } from 'node:path'
import { hasQueryOrFragment, hasUserinfo, isLoopbackHost, isSocketAddress } from './addresses.ts'
import { parseAuthority } from '../egress/authority/spec.ts'
import { parseTarget } from '../egress/target.ts'
import type { Config } from '../core/config.ts'
import { ConfigError } from '../core/errors.ts'
import { isCidr } from '../lib/cidr.ts'
import { readPaymentAssets, readRpcUrls } from './chain-variables.ts'
import { readSmtp } from './smtp-variables.ts'
import { readTelemetry } from './telemetry-variables.ts'
import { isHttpUrl } from './variable-forms.ts'
import { Environment } from './variables.ts'

/** sysexits.h EX_CONFIG: the process must not be restarted before somebody edits the configuration. */
export const EXIT_CONFIG = 78

/** As browsers write it in `Origin`; pages of extensions and editors have schemes of their own. */
const ORIGIN = /^(?:\*|[a-z][a-z\d+.-]*:\/\/[^\s/?#@A-Z]+)$/
/** RFC 9116, section 2.5.3. */
const CONTACT = /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:[+\d().-]+)$/

/** Nothing balances calls among sandboxes. */
const DRAIN_GRACE_SECONDS = { sandbox: 0, production: 3 } as const

/** A sandbox needs nothing of the internet: its own site has two. */
const DEFAULT_FEEDS = {
  sandbox: [
    'https://sandbox.agent-gateway.test/feeds/hardware.xml',
    'https://sandbox.agent-gateway.test/feeds/software.xml',
  ],
  production: ['https://news.ycombinator.com/rss', 'https://feeds.arstechnica.com/arstechnica/index'],
} as const

/**
 * @param env the process environment; empty strings count as unset
 * @throws {ConfigError} listing every problem in words
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const issues = Environment.safeParse(present).error?.issues ?? []
  // Values are not quoted back: one of them may be a key pasted into the wrong variable.
  const problems = issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
  // The checks across variables still run on what is left, so that one run names everything.
  const broken = new Set(issues.map((issue) => String(issue.path[0])))
  const e = Environment.parse(
    Object.fromEntries(Object.entries(present).filter(([name]) => !broken.has(name))),
  )

  e.GATEWAY_DNS_SERVERS.forEach((server, i) => {
    if (!isSocketAddress(server)) problems.push(`GATEWAY_DNS_SERVERS: entry ${i + 1} is not ip or ip:port`)
  })
  const egressPorts = e.GATEWAY_EGRESS_PORTS.map(Number)
  if (egressPorts.some((port) => !Number.isInteger(port) || port < 1 || port > 65535))
    problems.push('GATEWAY_EGRESS_PORTS must be comma-separated port numbers from 1 to 65535')
  e.GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS.forEach((cidr, i) => {
    if (!isCidr(cidr))
      problems.push(`GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: entry ${i + 1} is not address/prefix`)
  })

  e.GATEWAY_ALLOWED_ORIGINS.forEach((origin, i) => {
    if (!ORIGIN.test(origin))
      problems.push(
        `GATEWAY_ALLOWED_ORIGINS: entry ${i + 1} is not \`*\` or an origin in lower case without a path, such as https://app.example.com`,
      )
  })
  e.GATEWAY_SECURITY_CONTACT.forEach((contact, i) => {
    if (!CONTACT.test(contact))
      problems.push(
        `GATEWAY_SECURITY_CONTACT: entry ${i + 1} is not an address with mailto:, https: or tel: before it`,
      )
  })

  const named = e.GATEWAY_AUTHORITY.length > 0 ? e.GATEWAY_AUTHORITY : ['file']
  const authorities = named.flatMap((text, i) => {
    const spec = parseAuthority(text)
    if (typeof spec !== 'string') return [spec]
    problems.push(`GATEWAY_AUTHORITY: entry ${i + 1}: ${spec}`)
    return []
  })
  if (authorities.some(({ kind }) => kind === 'vault-transit') && e.GATEWAY_VAULT_TOKEN_FILE === undefined)
    problems.push(
      'GATEWAY_VAULT_TOKEN_FILE: `vault-transit` needs a file with a token, which is read for each request',
    )

  const rpc = readRpcUrls(present, isHttpUrl)
  problems.push(...rpc.problems)
  const assets = readPaymentAssets(e.GATEWAY_PAYMENT_ASSETS)
  problems.push(...assets.problems)
  const mail = readSmtp(e)
  problems.push(...mail.problems)
  const measured = readTelemetry(e)
  problems.push(...measured.problems)
  for (const name of ['GATEWAY_FACILITATORS', 'GATEWAY_DISCOVERY_SOURCES'] as const)
    e[name].forEach((url, i) => {
      if (!isHttpUrl(url)) problems.push(`${name}: entry ${i + 1} is not an http or https URL`)
    })
  // A feed that no digest could ever read is reported here, to the operator, and not to every caller.
  const sourceRules = {
    ports: egressPorts.length > 0 ? egressPorts : [443],
    allowSandboxName: e.GATEWAY_MODE === 'sandbox',
  }
  e.GATEWAY_FEED_SOURCES.forEach((url, i, urls) => {
    const target = parseTarget(url, sourceRules)
    if (!target.ok) problems.push(`GATEWAY_FEED_SOURCES: entry ${i + 1} cannot be read. ${target.detail}`)
    else if (urls.indexOf(url) < i)
      problems.push(`GATEWAY_FEED_SOURCES: entry ${i + 1} is there twice. Keep one.`)
  })
  if (e.GATEWAY_FEED_SOURCES.length > 3) problems.push('GATEWAY_FEED_SOURCES: at most 3 feeds')
  // A signed payment is money to whoever reads it on the way.
  e.GATEWAY_FACILITATORS.forEach((url, i) => {
    if (isHttpUrl(url) && url.startsWith('http:') && !isLoopbackHost(new URL(url).hostname))
      problems.push(`GATEWAY_FACILITATORS: entry ${i + 1} must be https; plain http is for loopback only`)
    if (hasUserinfo(url) || hasQueryOrFragment(url))
      problems.push(
        `GATEWAY_FACILITATORS: entry ${i + 1} must not hold a user name, password, query or fragment: no facilitator is sent them. ` +
          'Take them out; a key may be part of the path',
      )
  })

  if (e.GATEWAY_MODE === 'production') {
    if (e.GATEWAY_FAULT) problems.push('GATEWAY_FAULT: fault injection is refused in production mode')
    if (!e.GATEWAY_BASE_URL && !broken.has('GATEWAY_BASE_URL'))
      problems.push('GATEWAY_BASE_URL is required in production: it is what receipts and documents point to')
    else if (
      e.GATEWAY_BASE_URL &&
      !e.GATEWAY_BASE_URL.startsWith('https://') &&
      !isLoopbackHost(new URL(e.GATEWAY_BASE_URL).hostname)
    )
      problems.push('GATEWAY_BASE_URL must be https in production')
  } else if (!isLoopbackHost(e.HOST) && !e.GATEWAY_UNSAFE_PUBLIC_SANDBOX && !broken.has('GATEWAY_MODE')) {
    problems.push(
      'HOST: sandbox mode listens on loopback only, because a test payment signed for chain 8453 would be ' +
        'valid on the real chain. Use HOST=localhost, GATEWAY_MODE=production, or GATEWAY_UNSAFE_PUBLIC_SANDBOX=1',
    )
  }
  if (e.GATEWAY_DATABASE_DIRECT_URL !== undefined && e.GATEWAY_DATABASE_URL === undefined)
    problems.push(
      'GATEWAY_DATABASE_DIRECT_URL: is the way past the pooler of GATEWAY_DATABASE_URL, which is not set',
    )
  if (e.GATEWAY_REDIS_URL !== undefined && e.GATEWAY_DATABASE_URL === undefined)
    problems.push('GATEWAY_REDIS_URL: is for replicas, which share GATEWAY_DATABASE_URL; that is not set')
  if (problems.length > 0) throw new ConfigError(problems)

  const dataDir = resolve(e.GATEWAY_DATA_DIR)
  return Object.freeze({
    mode: e.GATEWAY_MODE,
    host: e.HOST,
    port: e.PORT,
    baseUrl: e.GATEWAY_BASE_URL,
    siteUrl: e.GATEWAY_SITE_URL,
    mcpUrl: e.GATEWAY_MCP_URL,
    dataDir,
    databaseUrl: e.GATEWAY_DATABASE_URL,
    databaseDirectUrl: e.GATEWAY_DATABASE_DIRECT_URL,
    redisUrl: e.GATEWAY_REDIS_URL,
    operatorKey: e.GATEWAY_OPERATOR_KEY,
    providersFile: e.GATEWAY_PROVIDERS_FILE,
    authorityKeyFile: e.GATEWAY_AUTHORITY_KEY_FILE ?? join(dataDir, 'authority.jwk'),
    authorities,
    vaultTokenFile: e.GATEWAY_VAULT_TOKEN_FILE,
    vaultNamespace: e.GATEWAY_VAULT_NAMESPACE,
    payTo: e.GATEWAY_PAY_TO,
    facilitators: e.GATEWAY_FACILITATORS,
    rpcUrls: rpc.urls,
    paymentAssets: assets.entries,
    settlerKeyFiles: e.GATEWAY_SETTLER_KEY_FILE,
    refundKeyFile: e.GATEWAY_REFUND_KEY_FILE,
    payoutKeyFile: e.GATEWAY_PAYOUT_KEY_FILE,
    settlerMaxFees: e.GATEWAY_SETTLER_MAX_FEE_GWEI,
    settlementGas: BigInt(e.GATEWAY_SETTLEMENT_GAS),
    confirmations: e.GATEWAY_CONFIRMATIONS,
    settleFreeAllowance: e.GATEWAY_SETTLE_FREE_ALLOWANCE,
    settleKeylessAllowance: e.GATEWAY_SETTLE_KEYLESS_ALLOWANCE,
    settleMinAtomic: BigInt(e.GATEWAY_SETTLE_MIN_ATOMIC),
    settleWithoutKey: e.GATEWAY_SETTLE_WITHOUT_KEY,
    payerMaxOpen: e.GATEWAY_PAYER_MAX_OPEN,
    robots: e.GATEWAY_ROBOTS,
    feedSources: e.GATEWAY_FEED_SOURCES.length > 0 ? e.GATEWAY_FEED_SOURCES : DEFAULT_FEEDS[e.GATEWAY_MODE],
    discoverySources: e.GATEWAY_DISCOVERY_SOURCES,
    dnsServers: e.GATEWAY_DNS_SERVERS,
    edgeName: e.GATEWAY_EDGE_NAME,
    egressPorts: egressPorts.length > 0 ? egressPorts : [443],
    allowPrivateCidrs: e.GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS,
    serviceKeyCredits: e.GATEWAY_SERVICE_KEY_CREDITS,
    mcpNames: e.GATEWAY_MCP_NAMES,
    allowedOrigins: e.GATEWAY_ALLOWED_ORIGINS,
    securityContacts: e.GATEWAY_SECURITY_CONTACT,
    rateLimit: e.GATEWAY_RATE_LIMIT,
    trustProxy: e.GATEWAY_TRUST_PROXY,
    creditPriceAtomic: BigInt(e.GATEWAY_CREDIT_PRICE_ATOMIC),
    emailDailyQuota: e.GATEWAY_EMAIL_DAILY_QUOTA,
    emailVerifierUrl: e.GATEWAY_EMAIL_VERIFIER_URL,
    smtp: mail.smtp,
    emailDomainAge: e.GATEWAY_EMAIL_DOMAIN_AGE,
    emailNewDomainDays: e.GATEWAY_EMAIL_NEW_DOMAIN_DAYS,
    proxy: {
      port: e.GATEWAY_PROXY_PORT,
      socket: e.GATEWAY_PROXY_SOCKET,
      unknown: e.GATEWAY_PROXY_UNKNOWN,
    },
    tokenFile: e.GATEWAY_TOKEN_FILE,
    token: e.GATEWAY_TOKEN,
    logLevel: e.GATEWAY_LOG_LEVEL,
    telemetry: measured.telemetry,
    drainGraceSeconds: e.GATEWAY_DRAIN_GRACE_SECONDS ?? DRAIN_GRACE_SECONDS[e.GATEWAY_MODE],
    unsafePublicSandbox: e.GATEWAY_UNSAFE_PUBLIC_SANDBOX,
    fault: e.GATEWAY_FAULT,
  })
}
