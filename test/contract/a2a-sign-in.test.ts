// How a client of A2A signs in: what the card offers, what a refusal says, and a task that waits for a person's permission.
import { AgentCard } from '@a2a-js/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectAssistant, type TestAssistant } from '../support/assistant.ts'
import { choiceOf } from '../support/connections.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn } from '../support/people.ts'
import type { Json } from '../support/tree.ts'

let gateway: TestGateway
let credentialId: string
let assistant: TestAssistant
beforeAll(async () => {
  gateway = await startTestGateway()
  credentialId = (await gateway.grant()).credentialId
  assistant = await connectAssistant(gateway, [credentialId])
})
afterAll(() => gateway?.close())

async function rpc(method: string, params: object, token = '') {
  const response = await fetch(`${gateway.baseUrl}/a2a`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came back is what is tested
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}
const send = (skill: string, input: object, token?: string, taskId?: string) =>
  rpc(
    'SendMessage',
    {
      message: {
        messageId: crypto.randomUUID(),
        role: 'ROLE_USER',
        parts: [{ data: { skill, input } }],
        ...(taskId && { taskId }),
      },
    },
    token,
  )
const goOn = (taskId: string, token: string) =>
  rpc(
    'SendMessage',
    { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Go on' }], taskId } },
    token,
  )
const challengeOf = ({ headers }: { headers: Headers }) => headers.get('www-authenticate')
const document = () => `${gateway.baseUrl}/.well-known/oauth-protected-resource/a2a`

/** The person of the connection changes what it may. */
async function allow(connectionId: string, over: Parameters<typeof choiceOf>[1]) {
  const { identity } = gateway.services
  const person = await signIn(gateway)
  const by = await identity.sessions.find(person.cookie.split('=')[1] ?? '')
  await identity.connections.change({ by: by!, connectionId, choice: choiceOf([credentialId], over) })
}

describe('the card', () => {
  const card = async (version = '1.0') =>
    (await (
      await fetch(`${gateway.baseUrl}/.well-known/agent-card.json`, { headers: { 'a2a-version': version } })
    ).json()) as Json

  it('has a scheme for each way to a token, which the official types read', async () => {
    const { securitySchemes } = AgentCard.fromJSON(await card())
    const flowOf = (name: string) => {
      const { scheme } = securitySchemes[name] ?? {}
      return scheme?.$case === 'oauth2SecurityScheme' ? scheme.value : undefined
    }
    const server = (await (
      await fetch(`${gateway.baseUrl}/.well-known/oauth-authorization-server`)
    ).json()) as Json
    expect(securitySchemes['bearer']?.scheme?.$case).toBe('httpAuthSecurityScheme')
    expect(flowOf('oauth')).toMatchObject({
      oauth2MetadataUrl: `${gateway.baseUrl}/.well-known/oauth-authorization-server`,
      flows: {
        flow: {
          $case: 'authorizationCode',
          value: {
            authorizationUrl: server['authorization_endpoint'],
            tokenUrl: server['token_endpoint'],
            refreshUrl: server['token_endpoint'],
            pkceRequired: true,
          },
        },
      },
    })
    expect(flowOf('device')).toMatchObject({
      flows: {
        flow: {
          $case: 'deviceCode',
          value: {
            deviceAuthorizationUrl: server['device_authorization_endpoint'],
            tokenUrl: server['token_endpoint'],
          },
        },
      },
    })
    for (const name of ['oauth', 'device'])
      expect(server['scopes_supported']).toEqual(
        expect.arrayContaining(Object.keys(flowOf(name)?.flows?.flow?.value.scopes ?? {})),
      )
  })

  it('says of each skill which of them open it', async () => {
    const { skills } = AgentCard.fromJSON(await card())
    const of = (id: string) =>
      skills
        .find((skill) => skill.id === id)
        ?.securityRequirements.map(({ schemes }) => Object.keys(schemes)[0])
    expect(of('egress-fetch')).toEqual(['bearer', 'capability', 'oauth', 'device'])
    expect(of('verify-email')).toEqual(['bearer'])
    expect(of('inspect-transaction')).toEqual([])
  })

  it('is read by clients of 0.3, who name no version and give up a card with a flow of devices', async () => {
    const unversioned = (await (await fetch(`${gateway.baseUrl}/.well-known/agent-card.json`)).json()) as Json
    expect(Object.keys(unversioned['securitySchemes'] as Json)).toEqual(['bearer', 'oauth', 'capability'])
    expect(JSON.stringify(unversioned['skills'])).not.toContain('"device"')
  })

  it('says so in the words of 0.3, which has no flow of devices', async () => {
    const { securitySchemes, skills } = (await card('0.3')) as { securitySchemes: Json; skills: Json[] }
    expect(securitySchemes).toMatchObject({
      oauth: {
        type: 'oauth2',
        flows: { authorizationCode: { tokenUrl: `${gateway.baseUrl}/oauth/token` } },
      },
    })
    expect(Object.keys(securitySchemes)).not.toContain('device')
    const names = new Set(skills.flatMap(({ security }) => ((security ?? []) as Json[]).flatMap(Object.keys)))
    expect([...names].toSorted()).toEqual(['bearer', 'capability', 'oauth'])
  })
})

it('a refusal says where one signs in', async () => {
  const input = { method: 'GET', url: gateway.url('/v1/thing') }
  const none = await send('egress-fetch', input)
  expect([none.status, challengeOf(none)]).toEqual([
    401,
    `Bearer resource_metadata="${document()}", scope="gateway"`,
  ])
  const wrong = await send('egress-fetch', input, `${assistant.token.slice(0, -1)}_`)
  expect([wrong.status, challengeOf(wrong)?.startsWith('Bearer error="invalid_token"')]).toEqual([401, true])
  expect(await (await fetch(document())).json()).toMatchObject({ authorization_servers: [gateway.baseUrl] })
  // What is wrong with a permit is no matter of signing in.
  const permit = await send('actions-execute', {
    permit: 'ey.ey.no',
    request: { method: 'GET', url: gateway.url('/') },
  })
  expect(challengeOf(permit) ?? '').not.toContain('resource_metadata')
})

describe('what the person did not allow', () => {
  it('is a task that waits for them, with a link, and goes on once they did', async () => {
    const asked = await send('egress-credentials-list', {}, assistant.token)
    const { id, status } = asked.body.result.task
    expect([asked.status, status.state]).toEqual([200, 'TASK_STATE_AUTH_REQUIRED'])
    const link = `${gateway.baseUrl}/console/connections/${assistant.connectionId}`
    const [text, data] = status.message.parts
    expect(text.text).toContain(link)
    expect(data.data).toEqual({ url: link, scope: 'gateway gateway:operator' })
    expect(JSON.stringify(status)).toContain('insufficient_scope')

    // It can be read by the assistant, and by nobody else.
    expect((await rpc('GetTask', { id }, assistant.token)).body.result.status.state).toBe(
      'TASK_STATE_AUTH_REQUIRED',
    )
    const other = await connectAssistant(gateway, [credentialId])
    for (const token of ['', other.token]) {
      expect((await rpc('GetTask', { id }, token)).body.error.code).toBe(-32001)
      expect((await goOn(id, token)).body.error.code).toBe(-32001)
    }

    // Not yet: it waits on, and is the same task.
    const still = (await goOn(id, assistant.token)).body.result.task
    expect([still.id, still.status.state]).toEqual([id, 'TASK_STATE_AUTH_REQUIRED'])

    await allow(assistant.connectionId, { mayOperate: true })
    const done = (await goOn(id, assistant.token)).body.result.task
    expect([done.id, done.status.state]).toEqual([id, 'TASK_STATE_COMPLETED'])
    expect(done.artifacts[0].parts[0].data.credentials).toHaveLength(1)
    expect((await rpc('GetTask', { id }, assistant.token)).body.result.status.state).toBe(
      'TASK_STATE_COMPLETED',
    )
  })

  it('cannot be gone on with as another call', async () => {
    const narrow = await connectAssistant(gateway, [credentialId])
    const { id } = (await send('egress-credentials-list', {}, narrow.token)).body.result.task
    const changed = await send('egress-attempts-list', {}, narrow.token, id)
    expect(JSON.stringify(changed.body.error)).toContain('input_conflict')
    const canceled = await rpc('CancelTask', { id }, narrow.token)
    expect(canceled.body.result.status.state).toBe('TASK_STATE_CANCELED')
  })
})
