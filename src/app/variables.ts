// The variables of the environment: how each is written, what it is when unset, and the words of docs/configuration.md. Whether they fit
// each other is config.ts's.
import { z } from 'zod'
import { DEFAULT_CREDIT_PRICE_ATOMIC } from '../../schemas/money.ts'
import { ROBOTS_POLICIES } from '../../schemas/sources.ts'
import { SETTLE_WITHOUT_KEY } from '../core/config.ts'
import { UNKNOWN_HOSTS } from '../doors/proxy/ports.ts'
import { parseToken } from '../lib/tokens.ts'
import { hasUserinfo } from './addresses.ts'
import { byChain } from './by-chain.ts'
import { SAMPLERS } from './telemetry-variables.ts'
import { AllowedName, flag, integer, list, ownUrl, toDepth } from './variable-forms.ts'

export const Environment = z.object({
  PORT: integer(0, 65535)
    .default(8402)
    .meta({ description: 'Port of the listener. `0` picks a free port and prints it' }),
  HOST: z.string().default('localhost').meta({
    description:
      'Address of the listener. `localhost` is both loopbacks, `127.0.0.1` and `::1`. A passkey cannot belong to an address of digits',
  }),
  GATEWAY_MODE: z
    .enum(['sandbox', 'production'], { error: 'must be sandbox or production' })
    .default('sandbox')
    .meta({
      description:
        '`sandbox` or `production`. Production needs `GATEWAY_BASE_URL` and refuses test hooks and test keys',
    }),
  GATEWAY_BASE_URL: ownUrl.optional().meta({
    description: 'Public address of the HTTP API, in documents and receipts',
    shownDefault: 'from `HOST` and `PORT`',
  }),
  GATEWAY_SITE_URL: ownUrl
    .optional()
    .meta({ description: 'Public address of the site, in documents', shownDefault: '`GATEWAY_BASE_URL`' }),
  GATEWAY_MCP_URL: ownUrl.optional().meta({
    description: 'Public address of the MCP endpoint, in documents',
    shownDefault: '`GATEWAY_BASE_URL` and `/mcp`',
  }),
  GATEWAY_DATA_DIR: z
    .string()
    .default('./data')
    .meta({ description: 'Directory of the embedded database, operator documents and key files (0600)' }),
  GATEWAY_DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
    .optional()
    .meta({
      description:
        '`postgres://…`: all state in PostgreSQL, any number of replicas. They share the key files',
      shownDefault: 'unset',
    }),
  GATEWAY_DATABASE_DIRECT_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
    .optional()
    .meta({
      description:
        'The same database past the pooler (PgBouncer in transaction mode) that `GATEWAY_DATABASE_URL` leads through: one connection ' +
        'of each process holds a lock that a pooler would give away',
      shownDefault: 'unset: there is no pooler',
    }),
  GATEWAY_REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' })
    .refine(
      (text) => /^\/?\d*$/.test(URL.parse(text)?.pathname ?? ''),
      'must end with the host, or with the number of a database behind it (redis://host:6379/0)',
    )
    .optional()
    .meta({
      description:
        'Redis or Valkey (a database of it for this installation alone) through which replicas tell each other of rate limits',
      shownDefault: 'unset: through PostgreSQL',
    }),
  GATEWAY_OPERATOR_KEY: z
    .string()
    // The checksum is judged too: a mistyped key would be stored, and then refused on every call.
    .refine(
      (text) => parseToken(text)?.kind === 'sk',
      'must be a service key (agw_sk_…), as `keys create` prints it',
    )
    .optional()
    .meta({ description: 'The first service key, read at the very first start', shownDefault: 'generated' }),
  GATEWAY_AUTHORITY_KEY_FILE: z.string().optional().meta({
    description: 'Private key that wraps the key of every credential',
    shownDefault: '`authority.jwk` in the data directory',
  }),
  GATEWAY_PROVIDERS_FILE: z.string().optional().meta({
    description: 'JSON file with providers of your own, read at start: `{"providers": [...]}`',
    shownDefault: 'unset',
  }),
  GATEWAY_AUTHORITY: list.meta({
    description:
      'Comma-separated: what wraps the key of every credential, and after it what older ones are still under. `file`, ' +
      '`aws-kms:<ARN>`, `gcp-kms:<key>`, `vault-transit:<URL of the key>` or `pkcs11:<attributes>` (RFC 7512)',
    shownDefault: '`file`',
  }),
  GATEWAY_VAULT_TOKEN_FILE: z.string().optional().meta({
    description: 'File with the token for `vault-transit`, of mode 0600 or 0640, read for each request',
    shownDefault: 'unset',
  }),
  GATEWAY_VAULT_NAMESPACE: z
    .string()
    .regex(/^[\w/-]+$/, 'must be a namespace of Vault')
    .optional()
    .meta({ description: 'Namespace of Vault Enterprise for `vault-transit`', shownDefault: 'unset' }),
  GATEWAY_PAY_TO: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address (0x and 40 hex digits)')
    .optional()
    .meta({
      description: 'Account that is paid. In production, paid tools answer 503 until it is set',
      shownDefault: 'an account of the sandbox',
    }),
  GATEWAY_FACILITATORS: list.meta({
    description:
      'Comma-separated facilitator URLs, instead of the one in this process. Anybody sees the host of each, nobody the path, which may hold a key',
    shownDefault: 'in-process',
  }),
  GATEWAY_PAYMENT_ASSETS: list.meta({
    description:
      'Comma-separated tokens of further chains that payments to other sellers are verified and settled in: ' +
      '`eip155:<chain id>/erc20:<address>=real` (or `=test` where it is test money), each with its `GATEWAY_RPC_<chain id>`',
  }),
  GATEWAY_SETTLER_KEY_FILE: list.meta({
    description:
      'Accounts that submit the settlements of the in-process facilitator: comma-separated files, each with 0x and 64 hex digits, 0600',
    shownDefault: 'keys of the sandbox',
  }),
  GATEWAY_REFUND_KEY_FILE: z.string().optional().meta({
    description:
      'File (0600) with the key of the account that refunds leave from: it holds the asset and needs no gas',
    shownDefault: 'unset; in a sandbox the account that is paid',
  }),
  GATEWAY_PAYOUT_KEY_FILE: z.string().optional().meta({
    description:
      'File (0600) with the key of the account that sellers of the market are paid from: it holds the asset and needs no gas',
    shownDefault: 'the refund account; in a sandbox the account that is paid',
  }),
  GATEWAY_SETTLER_MAX_FEE_GWEI: list
    .transform(byChain((gwei) => BigInt(gwei) * 1_000_000_000n, '<chain id>:<whole gwei>, e.g. 8453:5'))
    .meta({
      description:
        'Comma-separated `<chain id>:<gwei>`: the most that a settlement offers for one unit of gas. Above it settlements are refused and stuck ones are not raised',
      shownDefault: 'per chain: 10, Ethereum 200, Avalanche 500, Polygon 2000',
    }),
  GATEWAY_SETTLEMENT_GAS: integer(90_000, 1_000_000).default(120_000).meta({
    description:
      'The most gas that one settlement may burn. Contract wallets whose signature check needs more are refused when the payment is verified',
  }),
  GATEWAY_SETTLE_FREE_ALLOWANCE: integer(0, 1_000_000_000).default(1000).meta({
    description:
      'Free settlements a month: per account; without a key, per payee and per payer. Each further one costs 1 credit',
  }),
  GATEWAY_SETTLE_WITHOUT_KEY: z
    .enum(SETTLE_WITHOUT_KEY, { error: 'must be anyone, known or nobody' })
    .default('anyone')
    .meta({
      description:
        'Who may use `/settle` without a service key: `anyone`, `known` (the `known_payees` of `payment-policy.json`) or `nobody`',
    }),
  GATEWAY_SETTLE_KEYLESS_ALLOWANCE: integer(0, 1_000_000_000).default(10_000).meta({
    description: 'Settlements a month and network for everybody without a key, together',
  }),
  GATEWAY_SETTLE_MIN_ATOMIC: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a whole number')
    .default('1000')
    .meta({ description: 'Smallest payment, in atomic USDC, that is settled without a key' }),
  GATEWAY_CONFIRMATIONS: list.transform(byChain(toDepth, '<chain id>:<1 to 256 blocks>, e.g. 137:20')).meta({
    shownDefault: '1 everywhere',
    description:
      'Blocks that a transfer must be deep before it counts, by chain: `1:12,137:20`. Settling waits for them, for 25 seconds at most',
  }),
  GATEWAY_PAYER_MAX_OPEN: integer(1, 10_000).default(128).meta({
    description: 'Payments of one payer, asset and network that may be open (not settled yet) at once',
  }),
  GATEWAY_DISCOVERY_SOURCES: list.meta({
    description: 'Comma-separated x402 catalogues that `/discovery` reads',
  }),
  GATEWAY_FEED_SOURCES: list.meta({
    description: 'Comma-separated https URLs, at most three: what a feed digest without addresses reads',
    shownDefault: 'two technology feeds',
  }),
  GATEWAY_ROBOTS: z
    .enum(ROBOTS_POLICIES, { error: 'must be off, report, obey_ai or obey' })
    .default('obey_ai')
    .meta({
      description:
        'What follows from what the site of a source says about automatic readers. `report`: it is in the coverage. `obey_ai`: also, what ' +
        'robots.txt keeps from `AgentGateway` by name, `noai`, `ai-input=no` and a TDM reservation is not read. `obey`: neither is what ' +
        'robots.txt keeps from everybody. `off`: sites are not asked',
    }),
  GATEWAY_DNS_SERVERS: list.meta({
    description: 'Comma-separated `ip:port`, for egress, edge consent and email',
    shownDefault: 'of the system',
  }),
  GATEWAY_EDGE_NAME: AllowedName.optional().meta({
    description: 'The `gw=` of the TXT records with which merchants consent',
    shownDefault: 'host of `GATEWAY_BASE_URL`',
  }),
  GATEWAY_EGRESS_PORTS: list.meta({
    description: 'Comma-separated ports that outbound requests may use',
    shownDefault: '`443`',
  }),
  GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: list.meta({
    description:
      'Comma-separated private ranges in which an administrator may grant targets to single credentials; opens nothing by itself',
  }),
  GATEWAY_SERVICE_KEY_CREDITS: integer(0, 1_000_000_000)
    .default(100)
    .meta({ description: 'Free credits of a new account' }),
  GATEWAY_MCP_NAMES: z
    .enum(['auto', 'dotted', 'portable'], { error: 'must be auto, dotted or portable' })
    .default('auto')
    .meta({
      description:
        '`dotted` or `portable`: which spelling of the tool names the MCP list shows; `auto`: portable, and dotted to clients that are known to accept dots',
    }),
  GATEWAY_RATE_LIMIT: integer(0, 1_000_000_000).optional().meta({
    description:
      'Calls a minute per key or address. `0` switches limits off. One merchant gets 3000 edge calls a minute, or this if it is more',
    shownDefault: 'per tool',
  }),
  GATEWAY_TRUST_PROXY: z
    .union([z.literal('off').transform(() => 0), integer(0, 10)], {
      error: 'must be off or the number of proxies in front, at most 10',
    })
    .default(0)
    .meta({ description: 'How many proxies in front may set the client address', shownDefault: '`off`' }),
  GATEWAY_ALLOWED_ORIGINS: list.meta({
    description:
      'Comma-separated origins of web pages that may call, beside loopback and its own: `https://app.example.com`. `*`: all',
    shownDefault: '`*` in production, none in a sandbox',
  }),
  GATEWAY_SECURITY_CONTACT: list.meta({
    description:
      'Comma-separated `mailto:`, `https:` or `tel:` addresses for reports of vulnerabilities; `/.well-known/security.txt` names them',
    shownDefault: 'unset',
  }),
  GATEWAY_CREDIT_PRICE_ATOMIC: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a whole number')
    .default(DEFAULT_CREDIT_PRICE_ATOMIC.toString())
    .meta({ description: 'Price of one credit, in atomic USDC' }),
  GATEWAY_EMAIL_DAILY_QUOTA: integer(0, 1_000_000_000)
    .default(1000)
    .meta({ description: 'Addresses that a free key verifies in a UTC day. `0`: no limit' }),
  // An address is personal: it is never sent in the clear.
  GATEWAY_EMAIL_VERIFIER_URL: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .refine((text) => !hasUserinfo(text), 'must not hold a user name or password')
    .optional()
    .meta({
      description: 'https address that is asked whether a mailbox exists. It is sent the address',
      shownDefault: 'unset',
    }),
  GATEWAY_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be smtp://host:port or smtps://host:port' })
    .optional()
    .meta({
      description:
        'Mail server for notifications: `smtp://user@host:587` (STARTTLS, without which nothing is sent) or `smtps://user@host:465`. ' +
        'Its certificate is verified',
      shownDefault: 'unset',
    }),
  GATEWAY_SMTP_PASSWORD_FILE: z.string().optional().meta({
    description: 'File with the password of the user in `GATEWAY_SMTP_URL`, of mode 0600, read for each mail',
    shownDefault: 'unset',
  }),
  GATEWAY_SMTP_FROM: z
    .string()
    .optional()
    .meta({ description: 'Address that mail is from: `gateway@example.com`', shownDefault: 'unset' }),
  GATEWAY_SMTP_RECIPIENTS: list.meta({
    description: 'Comma-separated addresses and domains that mail may go to',
    shownDefault: 'the domain of `GATEWAY_SMTP_FROM`',
  }),
  GATEWAY_EMAIL_DOMAIN_AGE: z
    .string()
    .refine(
      (text) =>
        !text.includes('://') || (text.startsWith('https://') && URL.canParse(text) && !hasUserinfo(text)),
      'must be a file, or an https URL without user name and password',
    )
    .optional()
    .meta({
      description:
        'Where email verification learns when a domain was registered: a file with a domain and a day on each line, or the https address of an RDAP server. It is sent the domain',
      shownDefault: 'unset',
    }),
  GATEWAY_EMAIL_NEW_DOMAIN_DAYS: integer(1, 3650).default(30).meta({
    description: 'A domain that was registered less than so many days ago is a `review` (`new_domain`)',
  }),
  GATEWAY_PROXY_PORT: integer(0, 65535).optional().meta({
    description:
      'Port of 127.0.0.1 on which the gateway is an HTTPS proxy for unmodified programs. `0` picks a free port',
    shownDefault: 'unset: no proxy',
  }),
  GATEWAY_PROXY_SOCKET: z.string().optional().meta({
    description: 'Path of a Unix socket with the same proxy, for containers',
    shownDefault: 'unset',
  }),
  GATEWAY_PROXY_UNKNOWN: z
    .enum(UNKNOWN_HOSTS, { error: 'must be deny, tunnel or inspect' })
    .default('deny')
    .meta({
      description:
        'What the proxy does with hosts that a capability is not for: `deny`; `tunnel`: passed on, not opened; `inspect`: opened and passed on ' +
        'without a credential',
    }),
  GATEWAY_TOKEN_FILE: z
    .string()
    .optional()
    .meta({ description: 'File with the token that `agent-gateway stdio` sends', shownDefault: 'unset' }),
  GATEWAY_TOKEN: z
    .string()
    .refine((text) => parseToken(text) !== undefined, 'must be a whole token (agw_cap_… or agw_sk_…)')
    .optional()
    .meta({
      description:
        'The token itself, for assistants that keep secrets and hand them to the programs that they start. A file is better elsewhere',
      shownDefault: 'unset',
    }),
  GATEWAY_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info')
    .meta({ description: 'Least level that is logged; one JSON line a call, on stderr' }),
  GATEWAY_METRICS_PORT: integer(0, 65535).optional().meta({
    description: 'Port on which Prometheus reads metrics, at `/metrics`. `0` picks a free one and logs it',
    shownDefault: 'unset: none',
  }),
  GATEWAY_METRICS_HOST: z.string().optional().meta({
    description:
      'Address of that listener. Nobody is asked for a key there; on loopback a scraper has to name `localhost`, an IP address or this',
    shownDefault: '`127.0.0.1`',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional().meta({
    description:
      'Collector of OpenTelemetry that traces and metrics are sent to: `http://127.0.0.1:4318`, below which `/v1/traces` and `/v1/metrics` are',
    shownDefault: 'unset: nothing is sent',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .string()
    .optional()
    .meta({ description: 'The address for traces, as it stands', shownDefault: 'from the endpoint' }),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z
    .string()
    .optional()
    .meta({ description: 'The address for metrics, as it stands', shownDefault: 'from the endpoint' }),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .string()
    .optional()
    .meta({ description: '`http/protobuf` or `http/json`', shownDefault: '`http/protobuf`' }),
  OTEL_EXPORTER_OTLP_HEADERS: list.meta({
    description:
      'Comma-separated `name=value`, percent-encoded: headers that the collector wants, such as a key',
  }),
  OTEL_TRACES_EXPORTER: z
    .string()
    .optional()
    .meta({ description: '`none` sends no traces', shownDefault: '`otlp`' }),
  OTEL_METRICS_EXPORTER: z
    .string()
    .optional()
    .meta({ description: '`none` sends no metrics', shownDefault: '`otlp`' }),
  OTEL_TRACES_SAMPLER: z
    .string()
    .optional()
    .meta({
      description: `Which traces are written: ${SAMPLERS.map((name) => `\`${name}\``).join(', ')}. A \`parentbased_…\` one does as the caller's \`traceparent\` says`,
      shownDefault: '`parentbased_always_on`',
    }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .optional()
    .meta({ description: 'Share of traces for a sampler by ratio: `0.1`', shownDefault: '`1`' }),
  OTEL_BSP_SCHEDULE_DELAY: z
    .string()
    .optional()
    .meta({ description: 'Milliseconds between two deliveries of traces', shownDefault: '`5000`' }),
  OTEL_METRIC_EXPORT_INTERVAL: z
    .string()
    .optional()
    .meta({ description: 'Milliseconds between two deliveries of metrics', shownDefault: '`60000`' }),
  OTEL_SERVICE_NAME: z
    .string()
    .default('agent-gateway')
    .meta({ description: 'Name of this service in traces and metrics' }),
  OTEL_RESOURCE_ATTRIBUTES: list.meta({
    description: 'Comma-separated `name=value`: further attributes of this process in traces and metrics',
  }),
  OTEL_SDK_DISABLED: z
    .string()
    .optional()
    .meta({ description: '`true` measures nothing, whatever else is set', shownDefault: '`false`' }),
  GATEWAY_DRAIN_GRACE_SECONDS: integer(0, 300).optional().meta({
    description:
      'How long after SIGTERM the gateway still takes calls, while `/readyz` answers 503 already, so that a load balancer takes it out first',
    shownDefault: '`3` in production, `0` in a sandbox',
  }),
  GATEWAY_UNSAFE_PUBLIC_SANDBOX: flag.meta({
    description: '`1` lets a sandbox listen on other addresses than loopback',
  }),
  GATEWAY_FAULT: z.string().optional().meta({ testHook: true }),
})

/** Every name of the fixed list, hooks of tests included. */
export const CONFIGURATION_NAMES: readonly string[] = Object.keys(Environment.shape)
