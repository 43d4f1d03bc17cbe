import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'

const FIRST = 'key-q7Zk9Wm2Rt5Yp8VxB3nLc6Hd'
const SECOND = 'key-Jf4Gs0TaUeKX1vQoPiYw5MbN'

describe.each(ENGINES)('a credential that was rotated (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())

  it('sends the new secret, and its answers are searched for the old one as well', async () => {
    const { capability, credentialId } = await gw.grant({ secret: FIRST })
    const ask = async (text: string) => {
      gw.upstream.respond((_request, res) =>
        res.writeHead(200, { 'content-type': 'application/json' }).end(text),
      )
      return gw.fetch(capability, { url: gw.url('/v1/things') })
    }
    expect((await ask(JSON.stringify({ former: SECOND }))).status).toBe(200)
    await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { secret: SECOND })
    expect((await ask('{"ok":true}')).status).toBe(200)
    expect(gw.upstream.requests.at(-1)?.headers).toContainEqual(['authorization', `Bearer ${SECOND}`])
    for (const text of [FIRST, SECOND])
      expect(await ask(JSON.stringify({ text }))).toMatchObject({
        status: 502,
        body: { code: 'secret_reflected' },
      })

    // Re-wrapping the keys of the authority does not lose it.
    await gw.rest('POST', '/v1/authority/rotate', {})
    expect(await ask(Buffer.from(FIRST).toString('base64'))).toMatchObject({
      body: { code: 'secret_reflected' },
    })
    expect((await ask('{"ok":true}')).status).toBe(200)
  })
})
