// How a provider is described, here and in an operator's own file: one shape, in the spelling of that file. What it may not say is
// told in words, all of it at once.
import { z } from 'zod'
import {
  type CredentialSettings,
  HeaderName,
  PartName,
  Placement,
} from '../../../schemas/credential-settings.ts'
import { ProviderId } from '../../../schemas/egress.ts'
import { AllowedHost, HttpMethod } from '../../../schemas/http.ts'
import { GatewayError } from '../../core/errors.ts'
import { OperatorJsonFault, parseOperatorJson } from '../../lib/operator-json.ts'
import { isCallersHeader } from '../headers.ts'
import { checkSettings } from '../placement/settings.ts'
import { checkPath, parseTarget } from '../target.ts'

const CATEGORIES = [
  'models',
  'code',
  'work',
  'payments',
  'messaging',
  'cloud',
  'search',
  'vectors',
  'data',
  'own',
] as const

export interface DeniedPath {
  /** Absent: every method. */
  readonly method?: z.infer<typeof HttpMethod>
  readonly path: string
  readonly segments: readonly string[]
  /** Absent: whatever the query. Else a word that it has, in small letters. */
  readonly word?: string
}

/** `POST /path?word` as method, path and word of the query. */
function readDenied(rule: string): DeniedPath {
  const [first = '', second] = rule.split(' ')
  const [path = '', word] = (second ?? first).split('?')
  return {
    ...(second !== undefined && { method: HttpMethod.parse(first) }),
    path,
    segments: path.slice(1).split('/'),
    ...(word !== undefined && { word: word.toLowerCase() }),
  }
}

const headerNames = z.array(HeaderName).max(32).default([])
const fixedHeaders = z.record(
  HeaderName,
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[ -~]+$/, 'a value of printable ASCII, in one line'),
)

export const ProviderEntry = z.strictObject({
  id: ProviderId,
  name: z.string().min(1).max(60),
  category: z.enum(CATEGORIES).default('own'),
  /** Exact names; a credential may be used for all of them unless it names some. */
  hosts: z.array(AllowedHost).max(16).default([]),
  /** Endings such as `.zendesk.com`, below which each customer has a name of its own: credentials have to say which. */
  host_suffixes: z
    .array(
      z
        .string()
        .max(100)
        .regex(/^(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?){2,}$/, 'an ending such as .zendesk.com'),
    )
    .max(8)
    .default([]),
  /** Left out where the credential is one text. */
  parts: z.record(PartName, z.enum(['secret', 'public'])).optional(),
  placements: z
    .array(Placement)
    .min(1)
    .max(8)
    .default([{ in: 'header', name: 'authorization', scheme: 'Bearer' }]),
  /** Sent where the caller gives none: headers that the API requires or that pin its version. */
  version_headers: fixedHeaders.default({}),
  /** Headers that callers may send beside the usual ones. */
  request_headers: headerNames,
  /** Headers that choose an account or a tenant: callers may send them only where the credential lists them. */
  account_headers: headerNames,
  /** Headers of answers that callers get beside the usual ones. */
  response_headers: headerNames,
  /** Whether the API documents `Idempotency-Key`: only then is repeating an ambiguous request by hand safe. */
  idempotency_honoured: z.enum(['true', 'false', 'unknown']).default('unknown'),
  /**
   * `POST /path` or `/path`: addresses that answer with another secret; `*` stands for one segment, `**` at the end for however many.
   * `/path?word` is denied where the query has that word.
   */
  denied: z
    .array(
      z
        .string()
        .regex(/^(?:(?:GET|HEAD|POST|PUT|PATCH|DELETE) )?\/[!-~]*$/, 'such as "POST /oauth/token"')
        .transform(readDenied),
    )
    .max(64)
    .default([]),
  /** A call that changes nothing and shows whether a credential works. */
  test_call: z.strictObject({
    method: HttpMethod,
    url: z.string().max(400),
    what: z.string().min(1).max(80),
    headers: fixedHeaders.optional(),
    body: z.string().max(1000).optional(),
  }),
  /** Where programs look for the key: `agent-gateway run` puts a placeholder there, since many start only where there is something. */
  variables: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/, 'the name of an environment variable'))
    .max(8)
    .default([]),
  /** What keys begin with and how long they are: some programs look before they send. */
  key_format: z
    .strictObject({ prefix: z.string().regex(/^[A-Za-z0-9_-]{0,24}$/), length: z.int().min(16).max(256) })
    .default({ prefix: '', length: 40 }),
  docs: z.url({ protocol: /^https$/ }).max(300),
})
export type ProviderEntry = z.input<typeof ProviderEntry>
export type Provider = Readonly<z.output<typeof ProviderEntry>>

/** @returns what zod cannot see of an entry, in words; nothing where it is fine */
export function checkProvider(provider: Provider): string[] {
  const problems: string[] = []
  const { hosts, host_suffixes, test_call, denied, parts, placements } = provider
  if (hosts.length === 0 && host_suffixes.length === 0)
    problems.push('name its hosts, or the host_suffixes below which they are')
  const target = parseTarget(test_call.url, { ports: [443] })
  if (!target.ok) problems.push(`test_call.url: ${target.detail}`)
  else if (!isHostOf(provider, target.host))
    problems.push(`test_call.url: ${target.host} is not one of its hosts`)
  for (const { path } of denied)
    if (!checkPath(path.replaceAll('*', 'x')).ok)
      problems.push(`denied: ${path} is not a canonical path, so no request would match it`)
  // What callers may send anyhow needs no look; the rest frames no message and carries no secret, as if they sent it.
  const fixed = Object.keys({ ...provider.version_headers, ...test_call.headers }).filter(
    (name) => !isCallersHeader(name),
  )
  const settings: CredentialSettings = {
    ...(parts && { parts }),
    placements,
    request_headers: [...new Set([...provider.request_headers, ...provider.account_headers, ...fixed])],
    response_headers: provider.response_headers,
  }
  try {
    checkSettings(settings, placements)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    problems.push(thrown.message.replace(/^\/settings\//, ''))
  }
  return problems
}

/** Whether the host is one of the provider's, or below one of its endings. */
export const isHostOf = (
  { hosts, host_suffixes }: Pick<Provider, 'hosts' | 'host_suffixes'>,
  host: string,
): boolean => {
  const [name = ''] = host.split(':')
  return (
    hosts.includes(host) ||
    hosts.includes(name) ||
    host_suffixes.some((suffix) => name.endsWith(suffix) && name.length > suffix.length)
  )
}

const OwnProviders = z.strictObject({ providers: z.array(z.unknown()).max(500) })

/**
 * An operator's own file: `{"providers": [...]}`.
 * @param taken ids that the gateway brings itself
 * @returns the entries, or everything that is wrong with them
 */
export function readOwnProviders(
  text: string,
  taken: ReadonlySet<string>,
):
  | { readonly ok: true; readonly providers: readonly Provider[] }
  | { readonly ok: false; readonly problems: readonly string[] } {
  let json: unknown
  try {
    json = parseOperatorJson(text)
  } catch (thrown) {
    if (!(thrown instanceof OperatorJsonFault)) throw thrown
    return { ok: false, problems: [`it ${thrown.message}`] }
  }
  const file = OwnProviders.safeParse(json)
  if (!file.success)
    return { ok: false, problems: ['it has to be an object with the one member "providers", a list'] }
  const problems: string[] = []
  const providers: Provider[] = []
  const seen = new Set<string>()
  for (const [i, entry] of file.data.providers.entries()) {
    const parsed = ProviderEntry.safeParse(entry)
    if (!parsed.success) {
      for (const issue of parsed.error.issues)
        problems.push(
          `providers[${i}]${issue.path.map((key) => `.${String(key)}`).join('')}: ${issue.message}`,
        )
      continue
    }
    const provider = parsed.data
    const where = `providers[${i}] (${provider.id})`
    if (taken.has(provider.id))
      problems.push(`${where}: the gateway has a provider of this id: choose another`)
    if (seen.has(provider.id)) problems.push(`${where}: the id is there twice`)
    seen.add(provider.id)
    problems.push(...checkProvider(provider).map((problem) => `${where}: ${problem}`))
    providers.push(provider)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, providers }
}
