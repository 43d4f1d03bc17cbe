// What tests of action permits do over REST, on whatever gateway: one credential, mandates on it, permits under them.
import type { createClient, RestAnswer } from './gateway.ts'
import { UPSTREAM_HOST } from './gateway.ts'

export type Body = Record<string, unknown>

export interface ActionsClient {
  readonly credentialId: string
  /** Terms in full; each call another mandate, unless the purpose is given. */
  mandate(changes?: Body): Body
  request(changes?: Body): Body
  /** The bare call, whatever becomes of it. */
  ask(body: Body, token?: string): Promise<RestAnswer>
  /** @throws where it was not prepared */
  prepare(request?: Body, mandate?: Body): Promise<{ permit: string; permit_id: string; mandate_id: string }>
  /** With no token at all: who holds the permit may execute it. */
  execute(permit: string, request?: Body): Promise<RestAnswer>
  permitOf(permitId: string): Promise<Body>
  mandateOf(mandateId: string): Promise<Body>
  stats(token?: string): Promise<Body>
}

type Client = Pick<ReturnType<typeof createClient>, 'rest' | 'grant'>

let mandates = 0

export async function createActionsClient(
  client: Client,
  url: (path: string) => string,
  options: { readonly now?: () => number; readonly token?: string; readonly credential?: Body } = {},
): Promise<ActionsClient> {
  const { now = Date.now, token } = options
  const stored = await client.rest(
    'POST',
    '/v1/egress/credentials',
    {
      provider: 'custom',
      label: 'shop',
      secret: 'upstream-secret-1',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      ...options.credential,
    },
    token,
  )
  if (stored.status !== 201) throw new Error(`credential: ${stored.text}`)
  const credentialId: string = stored.body.credential_id

  const mandate = (changes: Body = {}): Body => ({
    purpose: `what test ${++mandates} wants`,
    credential_id: credentialId,
    host: UPSTREAM_HOST,
    path_prefix: '/v1',
    methods: ['GET', 'POST'],
    max_calls: 100,
    expires_at: new Date(now() + 3_600_000).toISOString(),
    ...changes,
  })
  const request = (changes: Body = {}): Body => ({
    url: url('/v1/orders'),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"sku":"tea","count":2}',
    ...changes,
  })
  const ask = (body: Body, as = token) =>
    client.rest('POST', '/v1/actions/permits', { credential_id: credentialId, ...body }, as)
  const read = async (path: string, as = token) => {
    const answer = await client.rest('GET', path, undefined, as)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }

  return {
    credentialId,
    mandate,
    request,
    ask,
    async prepare(asked = request(), terms = mandate()) {
      const answer = await ask({ request: asked, mandate: terms })
      if (answer.status !== 201) throw new Error(`permit: ${answer.text}`)
      return answer.body
    },
    execute: (permit, asked = request()) =>
      client.rest('POST', '/v1/actions/execute', { permit, request: asked }, ''),
    permitOf: (permitId) => read(`/v1/actions/permits/${permitId}`),
    async mandateOf(mandateId) {
      const { mandates: all } = await read('/v1/actions/mandates?limit=100')
      const found = all.find(({ mandate_id }: Body) => mandate_id === mandateId)
      if (!found) throw new Error(`no mandate ${mandateId}`)
      return found
    },
    stats: (as) => read('/v1/actions/stats', as),
  }
}
