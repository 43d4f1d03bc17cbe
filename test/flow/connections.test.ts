// A person connects an assistant: consent, calls, changing one's mind, and what attackers try in between. Over the wire, through the
// authorization server and the pages as they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectionRecord } from '../../schemas/connection.ts'
import { allowing, ask, comeBack, inBrowser, redeem, register } from '../support/consent.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'

let gateway: TestGateway
let owner: TestPerson
let clientId: string
interface Credential {
  credential_id: string
  hosts: string[]
  path_prefixes: string[]
  methods: string[]
}
let credential: Credential
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  clientId = await register(gateway)
  const { credentialId } = await gateway.grant()
  const { body } = await gateway.rest('GET', '/v1/egress/credentials')
  credential = body.credentials.find(({ credential_id }: Credential) => credential_id === credentialId)
})
afterAll(() => gateway?.close())

/** From the address to a token, as a person ticks it. */
async function connect(
  more: readonly (readonly [string, string])[] = [],
  credentials: readonly Credential[] = [credential],
  person = owner,
) {
  const asking = await ask(gateway, clientId)
  const answer = await inBrowser(gateway, person, asking).post(allowing(credentials, more))
  const tokens = await redeem(gateway, await comeBack(gateway, answer, asking), asking)
  const { connections } = (await gateway.rest('GET', '/v1/connections?limit=1')).body
  return { token: tokens.access_token, tokens, connection: connections[0] as ConnectionRecord }
}
const call = (token: string, path = '/user', method = 'GET') =>
  gateway.rest('POST', '/v1/egress/fetch', { url: gateway.url(path), method }, token)

describe('consent', () => {
  it('leads from an address to a call of a stored credential', async () => {
    const { token, connection } = await connect()
    expect(token).toMatch(/^agw_at_/)
    expect((await call(token)).body).toMatchObject({ upstream: { status: 200 } })
    expect(connection).toMatchObject({
      person_id: owner.personId,
      client: { id: clientId, name: 'Test Assistant', host: null, redirect_host: '127.0.0.1:33418' },
      credentials: [{ credential_id: credential.credential_id, hosts: credential.hosts }],
      may_pay: false,
      may_operate: false,
      ended_at: null,
    })
  })
})
