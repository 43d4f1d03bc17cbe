import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, startTestGateway, type TestGateway } from '../support/gateway.ts'

const SITE = 'https://sandbox.agent-gateway.test'
const SECRET = 'sample+secret/with=awkward&"chars"'

describe('the sample site of the sandbox', () => {
  let gw: TestGateway
  let capability: string
  const get = (path: string) => gw.fetch(capability, { method: 'GET', url: SITE + path })

  beforeAll(async () => {
    gw = await startTestGateway()
    ;({ capability } = await gw.grant({
      secret: SECRET,
      credential: { hosts: ['sandbox.agent-gateway.test'] },
    }))
  })
  afterAll(() => gw.close())

  it('answers a request that carries the stored credential, without DNS', async () => {
    const answer = await get('/api/whoami')
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body.upstream.body)).toEqual({ authenticated: true, scheme: 'Bearer' })
    expect(gw.dns.queries.filter(({ name }) => name.includes('sandbox'))).toEqual([])
  })

  it('shows what the leak gate is for: the page that echoes its headers is withheld', async () => {
    const answer = await get('/api/echo')
    expect(answer.body).toMatchObject({ code: 'secret_reflected', credits: { charged: 1 } })
    expect(answer.text).not.toContain('sample+secret')
  })

  it('receives an Idempotency-Key with an order', async () => {
    const answer = await gw.fetch(capability, {
      method: 'POST',
      url: `${SITE}/api/orders`,
      body: '{"item":1}',
    })
    expect(answer.body.upstream.status).toBe(201)
    expect(JSON.parse(answer.body.upstream.body)).toEqual({
      accepted: true,
      bytes: 10,
      has_idempotency_key: true,
    })
  })

  it('has a page that fails after the request was sent: ambiguous and charged', async () => {
    const answer = await get('/fail')
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({ code: 'outcome_ambiguous', credits: { charged: 1 } })
  })

  it('has a redirect into the machine, which comes back as data', async () => {
    const answer = await get('/redirect')
    expect(answer.body.upstream).toMatchObject({ status: 302, headers: { location: 'https://127.0.0.1/' } })
  })

  it('does not exist under any other name or port', async () => {
    for (const url of ['https://www.sandbox.agent-gateway.test/', `${SITE}:444/`, 'https://other.test/']) {
      const answer = await gw.fetch(capability, { method: 'GET', url })
      expect(answer.status, url).toBe(403)
    }
  })
})

it('production has no sample site: the reserved name is refused like any other .test name', async () => {
  const gw = await startTestGateway({
    env: { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example.com' },
  })
  try {
    const client = createClient(`http://127.0.0.1:${gw.gateway.port}`, gw)
    const stored = await client.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      label: 'test',
      secret: SECRET,
      hosts: ['sandbox.agent-gateway.test'],
      path_prefixes: ['/'],
      methods: ['GET'],
    })
    expect(stored.status).toBe(400)
    expect(stored.body.code).toBe('input_invalid')
  } finally {
    await gw.close()
  }
})
