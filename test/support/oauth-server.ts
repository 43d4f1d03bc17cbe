// A real OAuth 2.0 server (oidc-provider) behind TLS, under the name that the gateway's DNS leads here. It replaces refresh tokens with each
// use, and takes back everything when one comes twice.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import Provider from 'oidc-provider'
import type { TestCa } from './ca.ts'

/** Says who it is by a signature. */
export const KEY_CLIENT = 'gateway-key-client'
export const CLIENT = { id: 'gateway-client', secret: 'client-secret-0123456789+/=' }
const SCOPE = 'openid offline_access'

export interface OAuthServer {
  readonly port: number
  readonly tokenUrl: string
  /** Of `KEY_CLIENT`, in PEM. */
  readonly clientKey: string
  /** Audiences of the assertions so far that clients said who they are by. */
  readonly audiences: readonly unknown[]
  /** Token requests so far, as grant type and status. */
  readonly asked: readonly { readonly grant: string; readonly status: number }[]
  /** A refresh token as somebody at a browser would have got it. */
  newRefreshToken(): Promise<string>
  /** Whether a request with this token would be served. */
  isGood(accessToken: string): Promise<boolean>
  /** Answers in the place of the server, until it is undefined again. */
  instead(answer: { status: number; headers?: Record<string, string>; body: string } | undefined): void
  close(): Promise<void>
}

/** Listens before its certificate is there: the port has to be known to the gateway that brings the authority. */
export async function reservePort(): Promise<{ server: Server; port: number }> {
  const server = createServer({ ALPNProtocols: ['http/1.1'] })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

export async function startOAuthServer(
  { server, port }: Awaited<ReturnType<typeof reservePort>>,
  ca: TestCa,
  host: string,
): Promise<OAuthServer> {
  server.setSecureContext(await ca.leaf(host))
  const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const provider = new Provider(`https://${host}:${port}`, {
    clients: [
      {
        client_id: KEY_CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        id_token_signed_response_alg: 'ES256',
        jwks: { keys: [signing.publicKey.export({ format: 'jwk' })] },
      },
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirect_uris: ['https://app.example.com/callback'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'api'],
    ttl: { AccessToken: 3600, ClientCredentials: 3600, RefreshToken: 86_400, Grant: 86_400, IdToken: 3600 },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    jwks: { keys: [await signingKey()] },
    cookies: { keys: ['test'] },
  })
  const audiences: unknown[] = []
  const asked: { grant: string; status: number }[] = []
  let fixed: { status: number; headers?: Record<string, string>; body: string } | undefined
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.path !== '/token') return
    const grant = String(ctx.oidc?.params?.['grant_type'])
    const assertion = ctx.oidc?.params?.['client_assertion']
    if (typeof assertion === 'string') audiences.push(decodeJwt(assertion).aud)
    asked.push({ grant, status: ctx.status })
  })
  const serve = provider.callback()
  server.on('request', (req, res) => {
    if (!fixed) return void serve(req, res)
    const { status, headers = { 'content-type': 'application/json' }, body } = fixed
    asked.push({ grant: 'instead', status })
    req.resume().on('end', () => res.writeHead(status, headers).end(body))
  })
  return {
    port,
    tokenUrl: `https://${host}:${port}/token`,
    clientKey: signing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    audiences,
    asked,
    async newRefreshToken() {
      const client = await provider.Client.find(CLIENT.id)
      if (!client) throw new Error('no client')
      const grant = new provider.Grant({ accountId: 'somebody', clientId: CLIENT.id })
      grant.addOIDCScope(SCOPE)
      const token = new provider.RefreshToken({
        accountId: 'somebody',
        client,
        grantId: await grant.save(),
        scope: SCOPE,
        gty: 'authorization_code',
      })
      return token.save()
    },
    async isGood(accessToken) {
      const found =
        (await provider.AccessToken.find(accessToken)) ?? (await provider.ClientCredentials.find(accessToken))
      return found?.isValid ?? false
    },
    instead: (answer) => void (fixed = answer),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function signingKey() {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
  ])
  return { ...(await crypto.subtle.exportKey('jwk', privateKey)), use: 'sig', alg: 'ES256', kid: 'test' }
}
