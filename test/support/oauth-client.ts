// The official MCP client as an assistant uses it: it is given an address, is sent to a page in somebody's browser, and waits at a port of
// its own for the answer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

export interface Assistant {
  readonly client: Client
  /** Calls a tool. @throws as the client does */
  call(name: string, input: Record<string, unknown>): Promise<unknown>
  readonly tokens: () => OAuthTokens | undefined
  close(): Promise<void>
}

/**
 * Connects by address alone.
 * @param decide opens the page in a browser, and answers it
 */
export async function connectAssistant(
  mcpUrl: string,
  name: string,
  decide: (consentUrl: string) => Promise<void>,
): Promise<Assistant> {
  const { promise: code, resolve, reject } = Promise.withResolvers<URLSearchParams>()
  // Whoever refuses is told; nobody may wait for it.
  code.catch(() => undefined)
  const server = createServer((req, res) => {
    const { searchParams } = new URL(req.url ?? '/', 'http://localhost')
    res.setHeader('content-type', 'text/html').end('<h1>Back in the program</h1>')
    if (searchParams.has('code')) resolve(searchParams)
    else if (searchParams.has('error')) reject(new Error(`refused: ${searchParams.get('error')}`))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const redirectUrl = `http://127.0.0.1:${port}/callback`

  let information: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ''
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    redirectToAuthorization: (url) => decide(url.href),
  }
  const open = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: provider })
  const first = open()
  try {
    await new Client({ name, version: '1.0.0' }).connect(first)
    throw new Error('the gateway let a client in that had not signed in')
  } catch (thrown) {
    if (!(thrown instanceof UnauthorizedError)) throw thrown
  }
  await first.finishAuth(await code)
  const client = new Client({ name, version: '1.0.0' })
  await client.connect(open())
  return {
    client,
    call: (tool, input) => client.callTool({ name: tool, arguments: input }),
    tokens: () => tokens,
    async close() {
      await client.close()
      server.close()
      server.closeAllConnections()
    },
  }
}
