// A gateway with something on every page of the console: credentials, calls that went well and that did not, a permit that waits, money.
import { startTestGateway, type TestGateway } from './gateway.ts'
import { signIn, type TestPerson } from './people.ts'

export interface ConsoleWorld {
  readonly url: string
  readonly gateway: TestGateway
  readonly owner: TestPerson
  /** A route's path with the ids of what there is. */
  pathOf(path: string): string
  close(): Promise<void>
}

export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const gateway = await startTestGateway()
  const owner = await signIn(gateway, { role: 'owner', name: 'Sarah Haddad' })
  const { credentialId, capabilityId, capability } = await gateway.grant()
  const request = (path: string, method = 'GET') =>
    gateway.fetch(capability, { url: gateway.url(path), method })
  const answered = await request('/ok')
  await request('/ok', 'POST')
  await request('/status/500')
  await gateway.fetch(capability, { url: 'https://elsewhere.example.com/', method: 'GET' })
  const prepared = await gateway.rest('POST', '/v1/actions/permits', {
    credential_id: credentialId,
    request: { url: gateway.url('/orders'), method: 'POST', body: '{"amount": 12}' },
    mandate: {
      purpose: 'Orders of the office',
      credential_id: credentialId,
      host: new URL(gateway.url('/')).host,
      path_prefix: '/orders',
      methods: ['POST'],
      max_calls: 5,
      requires_approval: true,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  })
  const ids: Readonly<Record<string, string | undefined>> = {
    credential_id: credentialId,
    capability_id: capabilityId,
    attempt_id: answered.body.attempt_id as string,
    permit_id: prepared.body?.permit_id as string | undefined,
    policy: 'egress',
    name: 'gateway.egress.credentials.list',
  }
  return {
    url: gateway.baseUrl,
    gateway,
    owner,
    pathOf: (path) =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const id = ids[name]
        if (id === undefined) throw new Error(`there is no ${name} for ${path}`)
        return id
      }),
    close: () => gateway.close(),
  }
}
