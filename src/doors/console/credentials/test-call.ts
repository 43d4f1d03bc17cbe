// One real call with a credential, to see whether its secret works: by a capability for that one address, which lives a minute and is
// revoked whatever comes of it. It takes the call path like every other call, so it is recorded, charged and searched for leaks.
import type { CredentialMetadata, EgressReply, IssuedCapability } from '../../../../schemas/egress.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { SignedInRequest } from '../ports.ts'
import { CUSTOM, type Preset } from './presets.ts'

/** What is asked for. */
export interface TestCall {
  readonly method: string
  readonly url: string
  readonly body: string
}

export interface TestResult {
  readonly host: string
  readonly status: number
  readonly attemptId: string
  /** The beginning of a text that it answered. */
  readonly shown: string
}

const SHOWN_CHARACTERS = 600

/** What the provider declares for this, where the credential may be used for it; else the first address that it may be used for. */
export function usualTestCall(
  { hosts, path_prefixes, methods }: Pick<CredentialMetadata, 'hosts' | 'path_prefixes' | 'methods'>,
  preset: Preset | undefined,
): TestCall {
  const [host = ''] = hosts
  const [prefix = '/'] = path_prefixes
  const readOnly = methods.find((method) => method === 'GET' || method === 'HEAD')
  const fallback = { method: readOnly ?? methods[0] ?? 'GET', url: `https://${host}${prefix}`, body: '' }
  if (!preset || preset.id === CUSTOM) return fallback
  const { method, url: text, body = '' } = preset.example
  const url = new URL(text)
  if (!hosts.includes(url.hostname)) url.host = host
  const isCovered =
    methods.some((allowed) => allowed === method) &&
    path_prefixes.some(
      (allowed) => allowed === '/' || url.pathname === allowed || url.pathname.startsWith(`${allowed}/`),
    )
  return isCovered ? { method, url: url.href, body } : fallback
}

/**
 * Sends it. @throws {GatewayError} as the tools refuse; input_invalid where the address is none
 */
export async function runTestCall(
  request: SignedInRequest,
  credentialId: string,
  { method, url: text, body }: TestCall,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResult> {
  const url = URL.parse(text)
  if (!url)
    throw new GatewayError('input_invalid', '/url: write the whole address, beginning with https://.', {
      extras: { fields: [{ pointer: '/url', message: 'write the whole address, beginning with https://' }] },
    })
  const issued = (await request.call('gateway.egress.capabilities.issue', {
    credential_id: credentialId,
    hosts: [url.host],
    path_prefixes: [url.pathname],
    methods: [method],
    ttl_seconds: 60,
    max_uses: 1,
    label: 'test call from the console',
  })) as IssuedCapability
  try {
    const reply = await fetchWith(request, issued.capability, {
      url: text,
      method,
      headers,
      ...(body !== '' && { body }),
    })
    return {
      host: url.hostname,
      status: reply.upstream.status,
      attemptId: reply.attempt_id,
      shown: (reply.upstream.body ?? '').slice(0, SHOWN_CHARACTERS),
    }
  } finally {
    await request.call('gateway.egress.capabilities.revoke', { capability_id: issued.capability_id })
  }
}

/** As an agent would, with the same tool and at the same price. */
async function fetchWith(
  { console: { registry, calls }, visitor, told }: SignedInRequest,
  capability: string,
  input: Readonly<Record<string, unknown>>,
): Promise<EgressReply> {
  const entry = registry.find('gateway.egress.fetch')
  if (!entry) throw new Error('there is no gateway.egress.fetch')
  const result = await calls.call({
    tool: entry.tool,
    input,
    door: 'console',
    tokens: { capabilityHeader: capability },
    ...visitor,
  })
  if (!result.ok) {
    told(result.error)
    throw result.error
  }
  return result.output as EgressReply
}
