// A real OpenID provider (oidc-provider, certified) behind TLS, in which whoever a test names is signed in.
import type { Server } from 'node:https'
import Provider from 'oidc-provider'
import type { TestCa } from './ca.ts'

export interface ProviderPerson {
  readonly sub: string
  readonly name: string
  readonly groups: readonly string[]
}

export interface TestIdentityProvider {
  readonly issuer: string
  readonly client: { readonly id: string; readonly secret: string }
  /** Whoever sits at the browser over there. */
  become(person: ProviderPerson): void
  /** Follows an authorization request as a browser does. @returns the address on the gateway that it ends at */
  follow(url: string): Promise<string>
  /** How often its metadata were asked for. */
  readonly metadataRequests: number
  close(): Promise<void>
}

/** @param trusted fetch that trusts the certificates of the test and knows its names */
export async function startIdentityProvider(
  { server, port }: { readonly server: Server; readonly port: number },
  ca: TestCa,
  host: string,
  redirectUri: string,
  trusted: (url: string, headers: Record<string, string>) => Promise<{ location: string; cookies: string[] }>,
): Promise<TestIdentityProvider> {
  server.setSecureContext(await ca.leaf(host))
  const issuer = `https://${host}:${port}`
  const client = { id: 'agent-gateway', secret: 'provider-secret-0123456789' }
  const people = new Map<string, ProviderPerson>()
  let present = ''
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
  ])
  const jwk = await crypto.subtle.exportKey('jwk', privateKey)
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code'],
        redirect_uris: [redirectUri],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => {
        const { name = id, groups = [] } = people.get(id) ?? {}
        return { sub: id, name, groups: [...groups] }
      },
    }),
    async loadExistingGrant(ctx) {
      const grant = new provider.Grant({
        accountId: ctx.oidc.session?.accountId ?? present,
        clientId: client.id,
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
    pkce: { required: () => true },
    jwks: { keys: [{ ...jwk, use: 'sig', alg: 'ES256', kid: 'test' }] },
    cookies: { keys: ['test'] },
  })
  const serve = provider.callback()
  let metadataRequests = 0
  server.on('request', (req, res) => {
    if (req.url?.startsWith('/.well-known/openid-configuration')) metadataRequests++
    if (!req.url?.startsWith('/interaction/')) return void serve(req, res)
    provider
      .interactionFinished(req, res, { login: { accountId: present, ts: Math.floor(Date.now() / 1000) } })
      .catch(() => res.writeHead(500).end())
  })
  return {
    issuer,
    client,
    become(person) {
      people.set(person.sub, person)
      present = person.sub
    },
    get metadataRequests() {
      return metadataRequests
    },
    async follow(url) {
      const jar = new Map<string, string>()
      let at = url
      for (let hops = 0; hops < 8 && at.startsWith(issuer); hops++) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
        const { location, cookies } = await trusted(at, cookie === '' ? {} : { cookie })
        for (const set of cookies) {
          const [pair = ''] = set.split(';')
          jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
        }
        at = new URL(location, at).href
      }
      return at
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
