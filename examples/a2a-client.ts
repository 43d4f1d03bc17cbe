// npx node examples/a2a-client.ts
// Sends a message to a skill with the official A2A client. CAPABILITY comes from store-credential.ts.
import { SendMessageRequest } from '@a2a-js/sdk'
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const withCapability: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('Authorization', `Bearer ${process.env.CAPABILITY}`)
  return fetch(input, { ...init, headers })
}
const client = await new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl: withCapability })],
  }),
).createFromUrl(gateway)

const input = { method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' }
const message = { messageId: '1', role: 'ROLE_USER', parts: [{ data: { skill: 'egress-fetch', input } }] }
console.log(JSON.stringify(await client.sendMessage(SendMessageRequest.fromJSON({ message }))))
