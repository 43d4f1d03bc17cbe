// The operator's configuration. Types and versions only; src/app/config.ts reads it from the environment.
import type { Secret } from '../lib/secret.ts'

/** Version of the HTTP API, of the catalogue and of the egress manifest (specification, Versioning). */
export const API_VERSION = '5.0.2'
export const CATALOGUE_VERSION = '5.1.0'
export const EGRESS_VERSION = '1.0.0'

/** Who may have payments settled without a service key: `known` are the payees in the operator's `payment-policy.json`. */
export const SETTLE_WITHOUT_KEY = ['anyone', 'known', 'nobody'] as const
export type SettleWithoutKey = (typeof SETTLE_WITHOUT_KEY)[number]

/** What holds the wrapping keys of credentials. */
export type AuthoritySpec =
  | { readonly kind: 'file' }
  /** `key`: the ARN of a key or of an alias; its region is in it. */
  | { readonly kind: 'aws-kms'; readonly key: string; readonly region: string }
  /** `key`: the resource name of a CryptoKey. */
  | { readonly kind: 'gcp-kms'; readonly key: string }
  | { readonly kind: 'vault-transit'; readonly origin: string; readonly mount: string; readonly key: string }
  | ({ readonly kind: 'pkcs11' } & Pkcs11Key)

/** A key in a PKCS#11 token, as its URI (RFC 7512) describes it: what it does not say may be anything. */
export interface Pkcs11Key {
  /** Shared library of the token's maker, absolute. */
  readonly modulePath: string
  /** Absolute; 0600. */
  readonly pinFile: string
  readonly token: { readonly [name in 'label' | 'serial' | 'manufacturer' | 'model']?: string }
  /** `id`: CKA_ID in hexadecimal. */
  readonly key: { readonly label?: string; readonly id?: string }
}

export interface ProxySettings {
  /** Of 127.0.0.1; 0: any free one. */
  readonly port: number | undefined
  /** Path of a Unix socket. */
  readonly socket: string | undefined
  /** What becomes of hosts that a capability is not for. */
  readonly unknown: 'deny' | 'tunnel' | 'inspect'
}

export interface Config {
  readonly mode: 'sandbox' | 'production'
  readonly host: string
  readonly port: number
  /** Undefined until listening when PORT=0: the composition root fills it from the bound address. */
  readonly baseUrl: string | undefined
  readonly siteUrl: string | undefined
  readonly mcpUrl: string | undefined
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly databaseDirectUrl: string | undefined
  /** What replicas share limits through, instead of the database. */
  readonly redisUrl: string | undefined
  readonly operatorKey: string | undefined
  readonly authorityKeyFile: string
  /** Providers of the operator's own (src/egress/providers/schema.ts). */
  readonly providersFile?: string | undefined
  /** The first one wraps the keys of credentials; the others open what is still under them. */
  readonly authorities: readonly AuthoritySpec[]
  readonly vaultTokenFile: string | undefined
  readonly vaultNamespace: string | undefined
  readonly payTo: string | undefined
  /** Upstream facilitators; empty: the in-process one where it has a settler key. */
  readonly facilitators: readonly string[]
  /** JSON-RPC endpoint by chain id; empty in sandbox: the embedded chains. */
  readonly rpcUrls: Readonly<Record<number, string>>
  /** Tokens of chains that nothing is pinned for, as the operator names them. */
  readonly paymentAssets: readonly PaymentAsset[]
  /** Private key files (0x and 64 hex digits, 0600), one for each account that submits settlements. */
  readonly settlerKeyFiles: readonly string[]
  /** Private key file of the account that refunds leave from; nothing is refunded without it, but in a sandbox. */
  readonly refundKeyFile: string | undefined
  readonly payoutKeyFile: string | undefined
  /** Wei that a settlement offers at most for one unit of gas, by chain id; elsewhere a default of the chain. */
  readonly settlerMaxFees: Readonly<Record<number, bigint>>
  /** The most gas that one settlement may burn, in simulations too. */
  readonly settlementGas: bigint
  /** Blocks that a transfer must be deep before it counts, by chain id; 1 (it is mined) elsewhere. */
  readonly confirmations: Readonly<Record<number, number>>
  /** Free settlements a month: of an account; without a key, of each payee and of each payer. */
  readonly settleFreeAllowance: number
  /** Settlements a month and network of everybody without a key, together. */
  readonly settleKeylessAllowance: number
  /** The smallest payment, in atomic units, that is settled without a key. */
  readonly settleMinAtomic: bigint
  readonly settleWithoutKey: SettleWithoutKey
  /** Payments of one payer, asset and network that may be open at once. */
  readonly payerMaxOpen: number
  /** x402 catalogues that discovery reads. */
  readonly discoverySources: readonly string[]
  /** What follows from what the site of a source says about automatic readers. */
  readonly robots: 'off' | 'report' | 'obey_ai' | 'obey'
  /** Feeds of a feed-digest that names none. */
  readonly feedSources: readonly string[]
  readonly dnsServers: readonly string[]
  /** The `gw=` value of edge consent records; the host of the base URL unless given. */
  readonly edgeName: string | undefined
  readonly egressPorts: readonly number[]
  readonly allowPrivateCidrs: readonly string[]
  readonly serviceKeyCredits: number
  readonly mcpNames: 'auto' | 'dotted' | 'portable'
  /** Origins of web pages that may call; `*` is all, and nothing the default of the mode. */
  readonly allowedOrigins: readonly string[]
  /** URIs for reports of vulnerabilities. */
  readonly securityContacts: readonly string[]
  /** Requests a minute per key or address; undefined: per route; 0: off. */
  readonly rateLimit: number | undefined
  /** Number of trusted proxy hops in front; 0 trusts nobody. */
  readonly trustProxy: number
  readonly creditPriceAtomic: bigint
  /** Addresses that a free key may verify in a UTC day; 0: no limit. */
  readonly emailDailyQuota: number
  /** Asked whether a mailbox exists; undefined: nobody is. */
  readonly emailVerifierUrl: string | undefined
  /** The mail server for notifications; undefined: no mail is sent. */
  readonly smtp?: SmtpConfig | undefined
  /** A file, or the https address of an RDAP server. */
  readonly emailDomainAge: string | undefined
  readonly emailNewDomainDays: number
  /** The door of programs that know nothing of the gateway; there is none where neither port nor socket is set. */
  readonly proxy: ProxySettings
  readonly tokenFile: string | undefined
  readonly token: string | undefined
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** From SIGTERM, when readiness begins to fail, until nothing more is taken. */
  readonly drainGraceSeconds: number
  /** What is measured, and where it goes; undefined: nothing is. */
  readonly telemetry?: TelemetrySettings | undefined
  readonly unsafePublicSandbox: boolean
  /** `point:action` of the fault-injection hooks; refused in production. */
  readonly fault: string | undefined
}

export interface TelemetrySettings {
  /** Name of this service in traces and metrics. */
  readonly service: string
  /** Further attributes of this process, in the operator's words. */
  readonly resource: Readonly<Record<string, string>>
  readonly traces: TraceSettings | undefined
  readonly metrics: (OtlpSettings & { readonly intervalMs: number }) | undefined
  /** The listener that Prometheus reads. */
  readonly prometheus: { readonly host: string; readonly port: number } | undefined
}

/** A receiver of OTLP over HTTP. */
export interface OtlpSettings {
  /** Of the signal, with its path. */
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  /** They may hold the operator's key of a service. */
  readonly headers: Secret<readonly (readonly [name: string, value: string])[]>
}

export interface TraceSettings extends OtlpSettings {
  /** As OpenTelemetry names them. */
  readonly sampler: `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`
  /** Share of traces that is written, of samplers by ratio. */
  readonly ratio: number
  /** Milliseconds between two deliveries. */
  readonly delayMs: number
}

/** A mail server, as the operator names it. */
export interface SmtpConfig {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (`smtps:`); else STARTTLS, without which nothing is said. */
  readonly isImplicitTls: boolean
  readonly user: string | undefined
  readonly passwordFile: string | undefined
  readonly from: string
  /** Addresses and domains that mail may go to. */
  readonly recipients: readonly string[]
}

/** One entry of GATEWAY_PAYMENT_ASSETS: `eip155:<chain id>/erc20:<address>=<money>`. */
export interface PaymentAsset {
  readonly chainId: number
  /** As it was written: 0x and 40 hex digits. */
  readonly address: string
  readonly money: 'real' | 'test'
}

/** The addresses the specification calls {base_url}, {site_url} and {mcp_url}; no trailing slash. */
export interface Addresses {
  readonly baseUrl: string
  readonly siteUrl: string
  readonly mcpUrl: string
}
