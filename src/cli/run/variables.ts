// What a program is told by its environment: the way out, whom to trust, and placeholders where it looks for keys. Pure.
import { JAVA_STORE_PASSWORD } from '../../interception/java-trust-store.ts'
import { shellQuote } from '../../lib/shell-quote.ts'

type Variables = Readonly<Record<string, string>>

export interface TrustFiles {
  /** The roots of the machine, those that such variables named before, and ours: for variables that replace what a program trusts. */
  readonly bundle: string
  /** Ours, and those that such variables named before: for variables that add to it. */
  readonly own: string
}

const NO_PROXY = 'localhost,127.0.0.1,::1'
/** Programs on Unix read one spelling or the other; curl reads `http_proxy` in lower case alone. */
const bothSpellings = (name: string, value: string): Variables => ({
  [name]: value,
  [name.toLowerCase()]: value,
})

/** @param proxy address of the door, with user and password where it wants one */
export const proxyVariables = (proxy: string): Variables => ({
  ...bothSpellings('HTTPS_PROXY', proxy),
  // Plain HTTP is refused there in words, instead of going out beside it.
  ...bothSpellings('HTTP_PROXY', proxy),
  ...bothSpellings('ALL_PROXY', proxy),
  ...bothSpellings('NO_PROXY', NO_PROXY),
  NODE_USE_ENV_PROXY: '1',
})

export const trustVariables = ({ bundle, own }: TrustFiles): Variables => ({
  SSL_CERT_FILE: bundle,
  CURL_CA_BUNDLE: bundle,
  GIT_SSL_CAINFO: bundle,
  REQUESTS_CA_BUNDLE: bundle,
  PIP_CERT: bundle,
  AWS_CA_BUNDLE: bundle,
  CARGO_HTTP_CAINFO: bundle,
  CODEX_CA_CERTIFICATE: bundle,
  // These two add to what Node and Deno trust by themselves.
  NODE_EXTRA_CA_CERTS: own,
  DENO_CERT: own,
})

/**
 * AWS's programs send a body in chunks with a checksum behind them unless they are told not to: over plain HTTP, as to a base URL on this machine,
 * each chunk is signed, and the gateway cannot sign them again (egress/relay/prepare.ts).
 */
export const awsVariables: Variables = {
  AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
  AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
}

/**
 * Java reads none of the others, and sends no password: for doors that know whose connection it is without one. What the environment says
 * already comes first, and what is said last is so.
 */
export const javaVariables = (
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
  { javaStore }: { readonly javaStore: string },
  inherited: Readonly<Record<string, string | undefined>>,
): Variables => ({
  JAVA_TOOL_OPTIONS: [
    ...(inherited['JAVA_TOOL_OPTIONS'] ? [inherited['JAVA_TOOL_OPTIONS']] : []),
    `-Dhttps.proxyHost=${hostname}`,
    `-Dhttps.proxyPort=${port}`,
    '-Dhttp.nonProxyHosts=localhost|127.*|[::1]',
    // The virtual machine splits at spaces, and takes quotes for what they are.
    `-Djavax.net.ssl.trustStore=${/\s/.test(javaStore) ? `"${javaStore}"` : javaStore}`,
    '-Djavax.net.ssl.trustStoreType=JKS',
    `-Djavax.net.ssl.trustStorePassword=${JAVA_STORE_PASSWORD}`,
  ].join(' '),
})

/** What the environment says already stays; Node takes backslashes in quotes for escapes. */
export const nodeVariables = (
  { nodeAgents }: { readonly nodeAgents: string },
  inherited: Readonly<Record<string, string | undefined>>,
): Variables => ({
  NODE_OPTIONS: [
    ...(inherited['NODE_OPTIONS'] ? [inherited['NODE_OPTIONS']] : []),
    `--require ${JSON.stringify(nodeAgents)}`,
  ].join(' '),
})

export interface KeyFormat {
  readonly prefix: string
  readonly length: number
}

/** A text that looks like a key of the provider to a program and like none to a person. */
export const placeholderOf = ({ prefix, length }: KeyFormat): string =>
  (prefix + 'AgentGatewayPlaceholder'.repeat(Math.ceil(length / 23))).slice(
    0,
    Math.max(length, prefix.length + 8),
  )

/** What a gateway's document says of a provider. */
export interface ProviderVariables {
  readonly id: string
  readonly variables?: readonly string[]
  readonly key_format?: KeyFormat
}

/** @param used ids of the providers that the run has credentials of */
export function placeholderVariables(
  providers: readonly ProviderVariables[],
  used: ReadonlySet<string>,
): Variables {
  const found: Record<string, string> = {}
  for (const { id, variables = [], key_format } of providers)
    if (used.has(id) && key_format) for (const name of variables) found[name] = placeholderOf(key_format)
  return found
}

/**
 * The environment of the program. Everything of this gateway is taken out: what configures it, and every token of it, wherever it stands. In
 * a sandbox the socket of the agent that holds SSH keys is out of reach, so nobody is told of it.
 */
export function childEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  added: Variables,
  options: { readonly isSandboxed: boolean },
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) {
    if (value === undefined || name.startsWith('GATEWAY_') || /agw_[a-z]{2,3}_/.test(value)) continue
    if (options.isSandboxed && /^(?:SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|DOCKER_HOST)$/.test(name)) continue
    kept[name] = value
  }
  return { ...kept, ...added }
}

export const toShell = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
    .join('')

/** Name and value as they are, a line each: as `--env-file` of Docker and Podman, and `$GITHUB_ENV`, take them. */
export const toEnvFile = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
